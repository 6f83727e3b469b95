// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package peers finds what runs a member of etcd's member list, or ran it: pods and stopped workloads, whatever
// cluster they seem to belong to. It decides nothing. internal/operate calls it.
package peers

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// Peer is a member as etcd's member list describes it.
type Peer struct {
	Name string
	URLs []string
}

// PodsOf returns the names of the pods of a namespace that have the name or a peer address
// of a member, whatever cluster they seem to belong to: a pod of that name, one with that IP,
// one that a Service of that name selects, and one whose etcd is configured with that name or
// URL. The pods in others are those of other members; they don't count. A pod that has ended
// doesn't count either.
func PodsOf(ctx context.Context, r *observe.Reader, namespace string, p Peer, others map[string]bool) ([]string, error) {
	var pods corev1.PodList
	if err := r.Uncached().List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list pods of namespace %s: %w", namespace, err)
	}
	if err := r.Declare(ctx, namespace, pods.Items); err != nil {
		return nil, err
	}
	services, err := r.Services(ctx, namespace)
	if err != nil {
		return nil, err
	}
	files := podfiles.New(r, namespace)
	var found []string
	for i := range pods.Items {
		pod := &pods.Items[i]
		if others[pod.Name] || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		if p.named(pod) || p.served(pod, services) || p.configured(ctx, pod, files) {
			found = append(found, pod.Name)
		}
	}
	return found, nil
}

// named reports whether a pod has the member's name or address. The IP of a pod in its node's
// network is that of other pods too, so it isn't compared.
func (p Peer) named(pod *corev1.Pod) bool {
	names := []string{pod.Name}
	if pod.Spec.Hostname != "" {
		names = append(names, pod.Spec.Hostname)
	}
	if !pod.Spec.HostNetwork {
		for _, ip := range pod.Status.PodIPs {
			names = append(names, ip.IP)
		}
	}
	return slices.ContainsFunc(names, func(name string) bool { return name == p.Name || slices.Contains(p.hosts(), name) })
}

// served reports whether a Service with the host name of a peer URL selects a pod, when a traffic
// cut is ignored.
func (p Peer) served(pod *corev1.Pod, services []corev1.Service) bool {
	return slices.ContainsFunc(services, func(s corev1.Service) bool {
		selector := observe.Uncut(&s)
		return len(selector) > 0 && slices.Contains(p.hosts(), s.Name) && labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels))
	})
}

// configured reports whether a pod's etcd is configured with the member's peer URL, or with
// its name where the configuration has no URL. Members of two clusters can have one name.
func (p Peer) configured(ctx context.Context, pod *corev1.Pod, files *podfiles.Files) bool {
	if !etcdconf.RunsEtcd(pod) {
		return false
	}
	config, err := files.Config(ctx, pod)
	if err != nil {
		return false // the leader's contact decides
	}
	if config.Where["initial-advertise-peer-urls"] != "" {
		return slices.ContainsFunc(config.AdvertisePeer, func(u string) bool { return slices.Contains(p.URLs, u) })
	}
	return p.Name != "" && config.Where["name"] != "" && config.Name == p.Name
}

// hosts returns the host names, their first labels, and the IPs of the peer URLs.
func (p Peer) hosts() []string {
	var hosts []string
	for _, address := range p.URLs {
		u, err := url.Parse(address)
		if err != nil || u.Hostname() == "" {
			continue
		}
		first, _, _ := strings.Cut(u.Hostname(), ".")
		hosts = append(hosts, u.Hostname(), first)
	}
	return hosts
}
