// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
)

// resolve finds the namespace of a name that has none: SERVICE, POD.SERVICE, SERVICE.NAMESPACE and
// POD.SERVICE.NAMESPACE, which any name outside of the cluster can equal. So it is one of these only if the
// Service is there. The error is why it is not known whether it is.
func (s *search) resolve(ctx context.Context, a *address) error {
	labels := strings.Split(a.host, ".")
	switch {
	case a.namespace != "" || a.ip.IsValid() || len(labels) > 3:
	case len(labels) == 1 && s.has(labels[0]):
		a.namespace = s.namespace
	case len(labels) == 2 && s.has(labels[1]):
		a.service, a.namespace = labels[1], s.namespace
	case len(labels) > 1:
		service, namespace := labels[len(labels)-2], labels[len(labels)-1]
		there, err := s.hasIn(ctx, namespace, service)
		if err != nil {
			return fmt.Errorf("its peer address %s may be in namespace %s: %w", a.host, namespace, err)
		}
		if there {
			a.namespace = namespace
			if len(labels) == 3 {
				a.service = service
			}
		}
	}
	return nil
}

// hasIn reports whether a namespace has a Service.
func (s *search) hasIn(ctx context.Context, namespace, name string) (bool, error) {
	if namespace == s.namespace {
		return s.has(name), nil
	}
	all, err := memberservices.List(ctx, s.reader, namespace)
	return slices.ContainsFunc(all, func(of corev1.Service) bool { return of.Name == name }), err
}

// elsewhere returns why an address that no pod of the namespace has may be that of a pod, nil if it is not: all
// that may have an address of its form was read.
func (s *search) elsewhere(ctx context.Context, a address) error {
	switch {
	case a.namespace != "" && !s.isDomain(ctx, a.domain):
		return fmt.Errorf("its peer address %s may be one of another Kubernetes cluster", a.host)
	case a.namespace == s.namespace:
		return nil
	case a.namespace != "":
		return s.inOther(ctx, a)
	case a.ip.IsValid() && (a.ip.IsLoopback() || a.ip.IsUnspecified()):
		return fmt.Errorf("its peer address %s is that of each pod itself", a.host)
	}
	known, err := s.inAll(ctx, a)
	service := slices.ContainsFunc(a.through, func(s *corev1.Service) bool { return reached(s, a) })
	if err == nil && !known && !service && !a.ip.IsValid() {
		return fmt.Errorf("its peer address %s is of no Service and no node, and may be a name outside of the cluster", a.host)
	}
	return err
}

// isDomain reports whether a domain is this cluster's: the default, or one in which a pod of the namespace has its
// own peer URL.
func (s *search) isDomain(ctx context.Context, domain string) bool {
	return domain == "" || domain == "cluster.local" || slices.ContainsFunc(s.pods, func(pod corev1.Pod) bool {
		if !etcdconf.RunsEtcd(&pod) {
			return false
		}
		config, err := s.files.Config(ctx, &pod)
		if err != nil {
			return false
		}
		all, _ := Peer{URLs: config.PeerURLs()}.addresses()
		return slices.ContainsFunc(all, func(a address) bool { return a.domain == domain && a.isOf(&pod) })
	})
}

// inOther returns why an address that names another namespace may be that of a pod there.
func (s *search) inOther(ctx context.Context, a address) error {
	other, err := newSearch(ctx, s.reader, a.namespace)
	if err != nil {
		return err
	}
	a.through = other.servicesWith(ctx, a)
	for i := range other.pods {
		if pod := &other.pods[i]; !ended(pod) && a.isOf(pod) {
			return &ofOtherError{a.host, pod}
		}
	}
	for i := range other.services {
		if service := &other.services[i]; leadsOn(service) && (service.Name == a.service || slices.Contains(a.through, service)) {
			return isService(a, service)
		}
	}
	return nil
}

// ofOtherError is that an address is one of a pod in another namespace.
type ofOtherError struct {
	host string
	pod  *corev1.Pod
}

func (e *ofOtherError) Error() string {
	return fmt.Sprintf("its peer address %s is that of pod %s/%s", e.host, e.pod.Namespace, e.pod.Name)
}

func isService(a address, service *corev1.Service) error {
	return fmt.Errorf("its peer address %s is that of Service %s/%s, and it is not known which pod that is", a.host, service.Namespace, service.Name)
}

// inAll returns why an IP or the name of a node may be that of a pod in another namespace. known is true if a
// node has it.
func (s *search) inAll(ctx context.Context, a address) (known bool, unknown error) {
	node, err := s.nodeWith(ctx, a)
	if err != nil {
		return false, err
	}
	if node == nil && !a.ip.IsValid() {
		return false, nil
	}
	var services corev1.ServiceList
	if err := s.reader.Uncached().List(ctx, &services); err != nil {
		return false, mayHave(a, "Service", err)
	}
	for i := range services.Items {
		service := &services.Items[i]
		if service.Namespace != s.namespace && (reached(service, a) || node != nil && hasNodePort(service, a.port)) {
			return false, isService(a, service)
		}
	}
	return node != nil, s.podsInAll(ctx, a)
}

// mayHave returns the error for an address that an object may have which can't be read.
func mayHave(a address, kind string, err error) error {
	return fmt.Errorf("its peer address %s may be that of a %s which can't be read: %w", a.host, kind, err)
}
