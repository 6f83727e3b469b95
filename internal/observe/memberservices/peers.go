// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberservices

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// OfPeers reads the headless Service by which members find each other, nil for none: the one
// that the hosts of their peer URLs are below. If no configuration shows such hosts, it is the
// Service that the StatefulSet or the pods name, otherwise the first headless one that selects
// pods without a StatefulSet.
func OfPeers(ctx context.Context, r *observe.Reader, o owner.Owner) (*corev1.Service, error) {
	w, err := r.Workload(ctx, o)
	if err != nil {
		return nil, err
	}
	if w.StatefulSet != nil {
		return governing(ctx, r, o.Namespace, w.StatefulSet.Spec.ServiceName)
	}
	all, err := List(ctx, r, o.Namespace)
	if err != nil {
		return nil, err
	}
	headless := slices.DeleteFunc(all, func(s corev1.Service) bool { return s.Spec.ClusterIP != corev1.ClusterIPNone || !w.ServedBy(&s) })
	if len(headless) == 0 {
		return nil, nil
	}
	hosts := peerHosts(ctx, r, o.Namespace, w.Pods)
	for _, uses := range []func(*corev1.Service) bool{
		func(s *corev1.Service) bool {
			return slices.ContainsFunc(hosts, func(host string) bool { return below(host, s) })
		},
		func(s *corev1.Service) bool {
			return slices.ContainsFunc(w.Pods, func(p *corev1.Pod) bool { return p.Spec.Subdomain == s.Name })
		},
		func(*corev1.Service) bool { return true },
	} {
		for i := range headless {
			if uses(&headless[i]) {
				return &headless[i], nil
			}
		}
	}
	return nil, nil
}

// governing reads the Service that a StatefulSet names: its pods have their names there.
func governing(ctx context.Context, r *observe.Reader, namespace, name string) (*corev1.Service, error) {
	if name == "" {
		return nil, nil
	}
	var s corev1.Service
	found, err := r.Fetch(ctx, namespace, name, &s)
	if err != nil {
		return nil, fmt.Errorf("observe Service %s/%s: %w", namespace, name, err)
	}
	if !found {
		return nil, nil
	}
	return &s, nil
}

// peerHosts returns the hosts of the peer URLs in the pods' configurations, as far as these can be
// read.
func peerHosts(ctx context.Context, r *observe.Reader, namespace string, pods []*corev1.Pod) []string {
	var hosts []string
	add := func(address string) {
		if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	files := podfiles.New(r, namespace)
	for _, pod := range pods {
		config, err := files.Config(ctx, pod)
		if err != nil {
			continue // another pod may show the same hosts
		}
		for _, address := range config.PeerURLs() {
			add(address)
		}
		for _, p := range config.InitialPeers() {
			add(p.URL)
		}
	}
	return hosts
}

// below reports whether a host is a name of a Service, or of a pod below it.
func below(host string, s *corev1.Service) bool {
	is := func(name string) bool {
		name, rest, _ := strings.Cut(name, ".")
		return name == s.Name && (rest == "" || rest == s.Namespace || strings.HasPrefix(rest, s.Namespace+"."))
	}
	host = strings.TrimSuffix(host, ".")
	_, parent, ok := strings.Cut(host, ".")
	return is(host) || ok && is(parent)
}
