// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package peers finds what runs a member of etcd's member list, or ran it: pods and stopped workloads, whatever
// cluster they seem to belong to. It also finds out whether the peer URLs in that list lead to a member's pod. It decides
// nothing. internal/etcd, internal/operate and internal/health call it.
package peers

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
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
	// nodes are read once they are needed, nil before.
	nodes *corev1.NodeList
}

// PodsOf returns the names of the pods of a namespace that have the name or a peer address
// of a member, whatever cluster they seem to belong to: a pod of that name or host name, one with that IP, one
// that a Service with that name or IP selects or leads to, one that is reached by that address of its node, and one
// whose etcd is configured with that name or URL. The pods in others are those of other members; they don't
// count. A pod that has ended doesn't count either. The error is why it is not known whether there are more.
// If none was found, there is none only if all that may have such an address was read.
func PodsOf(ctx context.Context, r *observe.Reader, namespace string, p Peer, others map[string]bool) ([]string, error) {
	s, err := newSearch(ctx, r, namespace)
	if err != nil {
		return nil, err
	}
	all, unknown := p.addresses()
	all, err = s.followed(ctx, all)
	unknown = cmp.Or(unknown, err)
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
	for i := 0; i < len(all) && len(found) == 0 && unknown == nil; i++ {
		unknown = s.elsewhere(ctx, all[i])
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
	services, err := memberservices.List(ctx, r, namespace)
	return &search{reader: r, namespace: namespace, pods: pods.Items, services: services, files: podfiles.New(r, namespace)}, err
}

// runs reports whether a pod runs a member. The error is why it is not known.
func (s *search) runs(ctx context.Context, p Peer, pod *corev1.Pod, all []address) (bool, error) {
	if p.isOf(pod, slices.DeleteFunc(slices.Clone(all), func(a address) bool { return !s.own(a) })) {
		return true, nil
	}
	var unknown error
	for _, a := range all {
		at, err := s.onNode(ctx, pod, a)
		if at {
			return true, nil
		}
		unknown = cmp.Or(unknown, err)
	}
	is, err := p.configured(ctx, pod, s.files)
	return is, cmp.Or(unknown, err)
}

func ended(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// configured reports whether a pod's etcd is configured with the member's peer URL, or with
// its name where the configuration has no URL. Members of two clusters can have one name. The error is why it is
// not known.
func (p Peer) configured(ctx context.Context, pod *corev1.Pod, files *podfiles.Files) (bool, error) {
	if !etcdconf.RunsEtcd(pod) {
		return false, nil
	}
	config, err := files.Config(ctx, pod)
	if err != nil {
		if !podfiles.Transient(err) {
			err = nil // the leader's contact decides
		}
		return false, err
	}
	flags, is := []string{"initial-advertise-peer-urls"}, false
	if config.Where["initial-advertise-peer-urls"] != "" {
		is = slices.ContainsFunc(config.AdvertisePeer, func(u string) bool { return slices.Contains(p.URLs, u) })
	} else {
		is = p.Name != "" && config.Where["name"] != "" && config.Name == p.Name
		flags = append(flags, "name")
	}
	if is {
		return true, nil
	}
	return false, unknownIn(pod, config, "may run the member", flags...)
}

// unknownIn returns an error if a setting of a pod is not known.
func unknownIn(pod *corev1.Pod, config etcdconf.Config, what string, flags ...string) error {
	for _, flag := range flags {
		if why := config.Unknown[flag]; why != "" {
			return fmt.Errorf("pod %s %s: --%s: %s", pod.Name, what, flag, why)
		}
	}
	return nil
}
