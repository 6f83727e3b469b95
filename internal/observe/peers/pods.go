// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package peers finds what runs a member of etcd's member list, or ran it: pods and stopped workloads, whatever
// cluster they seem to belong to. It decides nothing. internal/operate calls it.
package peers

import (
	"cmp"
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

// search is what the addresses of one member are looked up in.
type search struct {
	reader    *observe.Reader
	namespace string
	pods      []corev1.Pod
	services  []corev1.Service
	files     *podfiles.Files
}

// PodsOf returns the names of the pods of a namespace that have the name or a peer address
// of a member, whatever cluster they seem to belong to: a pod of that name or host name, one with that IP, one
// that a Service of that name selects or leads to, one that is reached by that address of its node, and one
// whose etcd is configured with that name or URL. The pods in others are those of other members; they don't
// count. A pod that has ended doesn't count either. The error is why it is not known whether there are more,
// also if some were found.
func PodsOf(ctx context.Context, r *observe.Reader, namespace string, p Peer, others map[string]bool) ([]string, error) {
	s, err := newSearch(ctx, r, namespace)
	if err != nil {
		return nil, err
	}
	all, unknown := s.followed(ctx, p.addresses())
	if err := s.inOther(ctx, all); err != nil {
		unknown = err
	}
	var found []string
	for i := range s.pods {
		pod := &s.pods[i]
		if others[pod.Name] || ended(pod) {
			continue
		}
		is, err := s.runs(ctx, p, pod, all)
		if is {
			found = append(found, pod.Name)
		} else if err != nil {
			unknown = err
		}
	}
	return found, unknown
}

func newSearch(ctx context.Context, r *observe.Reader, namespace string) (*search, error) {
	var pods corev1.PodList
	if err := r.Uncached().List(ctx, &pods, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list pods of namespace %s: %w", namespace, err)
	}
	if err := r.Declare(ctx, namespace, pods.Items); err != nil {
		return nil, err
	}
	services, err := r.Services(ctx, namespace)
	return &search{reader: r, namespace: namespace, pods: pods.Items, services: services, files: podfiles.New(r, namespace)}, err
}

// runs reports whether a pod runs a member. The error is why it is not known.
func (s *search) runs(ctx context.Context, p Peer, pod *corev1.Pod, all []address) (bool, error) {
	if p.Name != "" && (pod.Name == p.Name || pod.Spec.Hostname == p.Name) {
		return true, nil
	}
	var unknown error
	for _, a := range all {
		if s.own(a) && (hasName(pod, a) || hasIP(pod, a) || serves(s.services, a, pod)) {
			return true, nil
		}
		at, err := s.onNode(ctx, pod, a)
		if at {
			return true, nil
		}
		unknown = cmp.Or(unknown, err)
	}
	if p.configured(ctx, pod, s.files) {
		return true, nil
	}
	if _, err := s.files.Config(ctx, pod); etcdconf.RunsEtcd(pod) && podfiles.Transient(err) {
		unknown = cmp.Or(unknown, err)
	}
	return false, unknown
}

// inOther returns an error if an address names another namespace, and a pod there has it or may have it.
func (s *search) inOther(ctx context.Context, all []address) error {
	for _, a := range all {
		if a.namespace == "" || a.namespace == s.namespace {
			continue
		}
		other, err := newSearch(ctx, s.reader, a.namespace)
		if err != nil {
			return err
		}
		for i := range other.pods {
			pod := &other.pods[i]
			if !ended(pod) && (hasName(pod, a) || hasIP(pod, a) || serves(other.services, a, pod)) {
				return fmt.Errorf("its peer address %s is that of pod %s/%s", a.host, pod.Namespace, pod.Name)
			}
		}
		if other.has(cmp.Or(a.service, a.name)) {
			return fmt.Errorf("its peer address is that of Service %s/%s, and it is not known which pod that is", a.namespace, a.name)
		}
	}
	return nil
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// isNode reports whether a pod runs on a node of that name.
func (s *search) isNode(name string) bool {
	return slices.ContainsFunc(s.pods, func(pod corev1.Pod) bool {
		return pod.Spec.NodeName != "" && strings.EqualFold(pod.Spec.NodeName, name)
	})
}

// hasName reports whether the first label of an address is a pod's name or host name.
func hasName(pod *corev1.Pod, a address) bool {
	return !a.ip.IsValid() && a.name != "" && (pod.Name == a.name || pod.Spec.Hostname == a.name)
}

// hasIP reports whether an address is a pod's own IP: one in its node's network has none.
func hasIP(pod *corev1.Pod, a address) bool {
	return !pod.Spec.HostNetwork && slices.ContainsFunc(pod.Status.PodIPs, func(ip corev1.PodIP) bool { return a.is(ip.IP) })
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

// serves reports whether a Service with the first label of an address as its name selects a pod, when a
// traffic cut is ignored.
func serves(services []corev1.Service, a address, pod *corev1.Pod) bool {
	return !a.ip.IsValid() && slices.ContainsFunc(services, func(s corev1.Service) bool {
		selector := observe.Uncut(&s)
		return len(selector) > 0 && s.Name == a.name && labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels))
	})
}

// served reports whether a Service with the host name of a peer URL selects a pod.
func (p Peer) served(pod *corev1.Pod, services []corev1.Service) bool {
	return slices.ContainsFunc(p.addresses(), func(a address) bool { return serves(services, a, pod) })
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
