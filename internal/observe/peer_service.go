// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// PeerService reads the headless Service by which members find each other, nil for none: the one
// that the hosts of their peer URLs are below. If no configuration shows such hosts, it is the
// Service that the StatefulSet or the pods name, otherwise the first headless one that selects
// pods without a StatefulSet.
func (r *Reader) PeerService(ctx context.Context, o owner.Owner) (*corev1.Service, error) {
	w, err := r.workload(ctx, o)
	if err != nil {
		return nil, err
	}
	if w.sts != nil {
		return r.governingService(ctx, &w)
	}
	all, err := r.Services(ctx, o.Namespace)
	if err != nil {
		return nil, err
	}
	headless := slices.DeleteFunc(all, func(s corev1.Service) bool { return s.Spec.ClusterIP != corev1.ClusterIPNone || !w.servedBy(&s) })
	if len(headless) == 0 {
		return nil, nil
	}
	hosts := r.peerHosts(ctx, &w)
	for _, uses := range []func(*corev1.Service) bool{
		func(s *corev1.Service) bool {
			return slices.ContainsFunc(hosts, func(host string) bool { return below(host, s) })
		},
		func(s *corev1.Service) bool {
			return slices.ContainsFunc(w.pods, func(p *corev1.Pod) bool { return p.Spec.Subdomain == s.Name })
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

// governingService reads the Service that a StatefulSet names: its pods have their names there.
func (r *Reader) governingService(ctx context.Context, w *workload) (*corev1.Service, error) {
	namespace, name := w.owner.Namespace, w.sts.Spec.ServiceName
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
func (r *Reader) peerHosts(ctx context.Context, w *workload) []string {
	var hosts []string
	add := func(address string) {
		if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	files := podfiles.New(r, w.owner.Namespace)
	for _, pod := range w.pods {
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
