// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// mostAliases bounds how many ExternalNames lead from one to the next.
const mostAliases = 4

// followed returns addresses with the Services that have them, and with those that Services without a selector
// lead to: an ExternalName to another host, and one whose endpoints a user or a program writes to their IPs. The
// error is why it is not known where one leads.
func (s *search) followed(ctx context.Context, all []address) ([]address, error) {
	var unknown error
	for at, depth := 0, 0; at < len(all); depth++ {
		from := len(all)
		if depth == mostAliases {
			return all[:at], fmt.Errorf("%s leads to too many other names", all[0].host)
		}
		for i := at; i < from; i++ {
			more, err := s.lead(ctx, &all[i])
			all, unknown = append(all, more...), cmp.Or(unknown, err)
		}
		at = from
	}
	return all, unknown
}

// lead completes an address with its namespace and Services, and returns those that these lead to.
func (s *search) lead(ctx context.Context, a *address) (to []address, unknown error) {
	if unknown = s.resolve(ctx, a); unknown != nil || !s.own(*a) {
		return nil, unknown
	}
	a.through, unknown = s.servicesWith(ctx, *a)
	through := a.through
	if at := slices.IndexFunc(s.services, func(of corev1.Service) bool { return a.service != "" && of.Name == a.service }); at >= 0 {
		through = append(through, &s.services[at])
	}
	for _, service := range through {
		more, err := s.behind(ctx, service, *a)
		to, unknown = append(to, more...), cmp.Or(unknown, err)
	}
	return to, unknown
}

// own reports whether an address can be in the namespace.
func (s *search) own(a address) bool { return a.namespace == "" || a.namespace == s.namespace }

// has reports whether the namespace has a Service.
func (s *search) has(name string) bool {
	return slices.ContainsFunc(s.services, func(of corev1.Service) bool { return of.Name == name })
}

// servicesWith returns the Services of the namespace that have an address: by their name, an IP or a load
// balancer's name, or by a port of the nodes. The error is why it is not known whether one has it.
func (s *search) servicesWith(ctx context.Context, a address) (out []*corev1.Service, unknown error) {
	for i := range s.services {
		service := &s.services[i]
		switch {
		case named(service, a), reached(service, a):
			out = append(out, service)
		case a.namespace == "" && hasNodePort(service, a.port):
			node, err := s.nodeWith(ctx, a)
			if node != nil {
				out = append(out, service)
			}
			unknown = cmp.Or(unknown, err)
		}
	}
	return out, unknown
}

// named reports whether the first label of an address is a Service's name. That of a Service's pod isn't.
func named(service *corev1.Service, a address) bool {
	return !a.ip.IsValid() && a.service == "" && service.Name == a.name
}

// reached reports whether an IP or a name of a load balancer is a Service's.
func reached(service *corev1.Service, a address) bool {
	return slices.ContainsFunc(slices.Concat(service.Spec.ClusterIPs, service.Spec.ExternalIPs, []string{service.Spec.ClusterIP, service.Spec.LoadBalancerIP}), a.is) ||
		slices.ContainsFunc(service.Status.LoadBalancer.Ingress, func(in corev1.LoadBalancerIngress) bool {
			return a.is(in.IP) || in.Hostname != "" && strings.EqualFold(in.Hostname, a.host)
		})
}

func hasNodePort(service *corev1.Service, port string) bool {
	return slices.ContainsFunc(service.Spec.Ports, func(p corev1.ServicePort) bool {
		return p.NodePort != 0 && strconv.Itoa(int(p.NodePort)) == port
	})
}

// selects reports whether a Service selects a pod, when a traffic cut is ignored.
func selects(service *corev1.Service, pod *corev1.Pod) bool {
	selector := observe.Uncut(service)
	return len(selector) > 0 && labels.SelectorFromSet(selector).Matches(labels.Set(pod.Labels))
}

// leadsOn reports whether the endpoints of a Service are not the pods that it selects.
func leadsOn(service *corev1.Service) bool {
	return service.Spec.Type == corev1.ServiceTypeExternalName || len(observe.Uncut(service)) == 0
}

// behind returns the addresses that a Service leads to where it has no selector.
func (s *search) behind(ctx context.Context, service *corev1.Service, a address) ([]address, error) {
	if service.Spec.Type == corev1.ServiceTypeExternalName {
		return []address{parseAddress(service.Spec.ExternalName, a.port)}, nil
	}
	if !leadsOn(service) {
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
