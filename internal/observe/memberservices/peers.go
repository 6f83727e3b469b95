// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberservices

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// PeerService is the Service in which members have the names of their peer URLs.
type PeerService struct {
	// Name is empty if there is none, or none that is known.
	Name string
	// Service is nil while it doesn't exist.
	Service *corev1.Service
}

// Headless reports whether the Service exists and has no cluster IP.
func (p PeerService) Headless() bool {
	return p.Service != nil && p.Service.Spec.ClusterIP == corev1.ClusterIPNone
}

// OfPeers reads the Service by which members find each other: the headless one that the hosts of their peer URLs are
// below. If no configuration shows such hosts, it is the one that the StatefulSet or the pods name, otherwise the first
// headless one that selects pods without a StatefulSet. The Service that a StatefulSet names may have a cluster IP, if
// hosts are known to be below it.
func OfPeers(ctx context.Context, r *observe.Reader, o owner.Owner) (PeerService, error) {
	w, err := r.Workload(ctx, o)
	if err != nil {
		return PeerService{}, err
	}
	if w.StatefulSet != nil {
		return ofStatefulSet(ctx, r, &w)
	}
	all, err := List(ctx, r, o.Namespace)
	if err != nil {
		return PeerService{}, err
	}
	headless := slices.DeleteFunc(all, func(s corev1.Service) bool { return s.Spec.ClusterIP != corev1.ClusterIPNone || !w.ServedBy(&s) })
	if len(headless) == 0 {
		return PeerService{}, nil
	}
	hosts, _ := peerHosts(ctx, r, o.Namespace, w.Pods)
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
				return PeerService{Name: headless[i].Name, Service: &headless[i]}, nil
			}
		}
	}
	return PeerService{}, nil
}

// ofStatefulSet reads the Service that a StatefulSet names, unless it is known, or for one with a cluster IP not known
// otherwise, that the members don't use it.
func ofStatefulSet(ctx context.Context, r *observe.Reader, w *observe.Workload) (PeerService, error) {
	sts := w.StatefulSet
	p := PeerService{Name: sts.Spec.ServiceName}
	if p.Name == "" {
		return p, nil
	}
	var err error
	if p.Service, err = governing(ctx, r, sts.Namespace, p.Name); err != nil || p.Headless() && p.Service.Spec.PublishNotReadyAddresses {
		return p, err
	}
	pods := w.Pods
	if len(pods) == 0 {
		pods = []*corev1.Pod{etcdconf.NextPod(sts, &sts.Spec.Template, sts.Name+"-0")}
	}
	hosts, known := peerHosts(ctx, r, sts.Namespace, pods)
	used := slices.ContainsFunc(hosts, func(host string) bool { return p.has(sts.Namespace, host) })
	if !used && (known || p.Service != nil && !p.Headless()) {
		return PeerService{}, nil
	}
	return p, nil
}

// has reports whether a host is a name of the Service, which may not exist, or of a pod below it.
func (p PeerService) has(namespace, host string) bool {
	return p.Name != "" && below(host, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: p.Name}})
}

// OfHost returns the Service in which a host of a StatefulSet's pod has its name, and none if the host may be a name
// outside of the cluster. services are all of the namespace.
func OfHost(services []corev1.Service, sts *appsv1.StatefulSet, pod, host string) PeerService {
	names := []string{sts.Spec.ServiceName}
	for i := range services {
		names = append(names, services[i].Name)
	}
	for _, name := range append(names, pod) {
		p := PeerService{Name: name}
		if !p.has(sts.Namespace, host) {
			continue
		}
		if at := slices.IndexFunc(services, func(s corev1.Service) bool { return s.Name == name }); at >= 0 {
			p.Service = &services[at]
		}
		return p
	}
	return PeerService{}
}

// governing reads the Service that a StatefulSet names: its pods have their names there.
func governing(ctx context.Context, r *observe.Reader, namespace, name string) (*corev1.Service, error) {
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
// read, and reports whether they have the URLs of all the pods.
func peerHosts(ctx context.Context, r *observe.Reader, namespace string, pods []*corev1.Pod) (hosts []string, all bool) {
	add := func(address string) {
		if u, err := url.Parse(address); err == nil && u.Hostname() != "" {
			hosts = append(hosts, u.Hostname())
		}
	}
	files := podfiles.New(r, namespace)
	all = true
	for _, pod := range pods {
		config, err := files.Config(ctx, pod)
		if err != nil {
			all = false
			continue // another pod may show the same hosts
		}
		urls := config.PeerURLs()
		all = all && len(urls) > 0 && config.UnknownPeerURLs() == ""
		for _, address := range urls {
			add(address)
		}
		for _, p := range config.InitialPeers() {
			add(p.URL)
		}
	}
	return hosts, all
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
