// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// mostAliases bounds how many ExternalNames lead from one to the next.
const mostAliases = 4

// followed returns addresses with those that Services without a selector lead to: an ExternalName to another
// host, and one whose endpoints a user or a program writes to their IPs. The error is why it is not known where
// one leads.
func (s *search) followed(ctx context.Context, all []address) ([]address, error) {
	var unknown error
	for at, depth := 0, 0; at < len(all); depth++ {
		from := all[at:]
		if at = len(all); depth == mostAliases {
			return all, fmt.Errorf("%s leads to too many other names", all[0].host)
		}
		for _, a := range from {
			more, err := s.leads(ctx, a)
			all, unknown = append(all, more...), cmp.Or(unknown, err)
		}
	}
	return all, unknown
}

// leads returns the addresses that the Services of an address lead to where they have no selector.
func (s *search) leads(ctx context.Context, a address) (to []address, unknown error) {
	if a.ip.IsValid() || !s.own(a) {
		return nil, nil
	}
	for i := range s.services {
		service := &s.services[i]
		if service.Name == a.service || service.Name == a.name && !s.has(a.service) {
			more, err := s.behind(ctx, service, a)
			to, unknown = append(to, more...), cmp.Or(unknown, err)
		}
	}
	return to, unknown
}

// own reports whether an address can be in the namespace.
func (s *search) own(a address) bool { return a.namespace == "" || a.namespace == s.namespace }

// has reports whether the namespace has a Service.
func (s *search) has(name string) bool {
	return slices.ContainsFunc(s.services, func(of corev1.Service) bool { return of.Name == name })
}

// behind returns the addresses that a Service leads to where it has no selector.
func (s *search) behind(ctx context.Context, service *corev1.Service, a address) ([]address, error) {
	if service.Spec.Type == corev1.ServiceTypeExternalName {
		to := parseAddress(service.Spec.ExternalName, a.port)
		if to.namespace == "" && !to.ip.IsValid() && !s.isNode(to.host) {
			return []address{to}, fmt.Errorf("service %s is an ExternalName for %s, and it is not known which pod that is", service.Name, to.host)
		}
		return []address{to}, nil
	}
	if len(observe.Uncut(service)) > 0 {
		return nil, nil
	}
	var slicesOf discoveryv1.EndpointSliceList
	err := s.reader.Uncached().List(ctx, &slicesOf, client.InNamespace(s.namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service.Name})
	if err != nil {
		return nil, fmt.Errorf("list the EndpointSlices of Service %s, which has no selector: %w", service.Name, err)
	}
	var out []address
	for i := range slicesOf.Items {
		for _, e := range slicesOf.Items[i].Endpoints {
			if e.Hostname != nil && service.Name == a.service && *e.Hostname != a.name {
				continue
			}
			for _, ip := range e.Addresses {
				out = append(out, parseAddress(ip, a.port))
			}
		}
	}
	return out, fmt.Errorf("service %s has no selector, and it is not known which pods have its endpoints", service.Name)
}
