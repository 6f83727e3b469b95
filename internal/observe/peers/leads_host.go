// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
)

// misses returns why the host of an address is not that of a pod, empty if it is. The error is why that is not known.
func (s *search) misses(ctx context.Context, pod *corev1.Pod, config etcdconf.Config, a address) (string, error) {
	if etcdconf.IsLoopback(a.host) || a.ip.IsValid() && a.ip.IsUnspecified() {
		return "each pod has the address " + a.host + " itself", nil
	}
	more, err := s.lead(ctx, &a)
	switch {
	case err != nil:
		return "", err
	case len(a.through)+len(more) > 0:
		return "", fmt.Errorf("the peer address %s is that of a Service", a.host)
	case a.domain != "" && !s.isDomain(ctx, a.domain):
		return "", fmt.Errorf("the peer address %s may be one of another Kubernetes cluster", a.host)
	}
	if is, err := s.isAt(ctx, pod, config, a); is || err != nil {
		return "", err
	}
	if wrong, err := s.ofOther(ctx, pod, a); wrong != "" || err != nil {
		return wrong, err
	}
	if pod.Spec.HostNetwork {
		return "", fmt.Errorf("node %s of pod %s may have the peer address %s", pod.Spec.NodeName, pod.Name, a.host)
	}
	return s.ofNone(ctx, pod, a)
}

// changed returns an error if a pod is another one by now, or has other IPs: the member list is newer than the pod.
func (s *search) changed(pod *corev1.Pod) error {
	at := slices.IndexFunc(s.pods, func(now corev1.Pod) bool { return now.Name == pod.Name })
	if at < 0 || s.pods[at].UID != pod.UID || !slices.Equal(s.pods[at].Status.PodIPs, pod.Status.PodIPs) {
		return fmt.Errorf("pod %s changed while it was read", pod.Name)
	}
	return nil
}

// listensOn reports whether a pod's etcd listens for peers on an IP, which may be one of a second network.
func listensOn(config etcdconf.Config, a address) bool {
	return a.ip.IsValid() && slices.ContainsFunc(config.ListenPeer, func(l string) bool { return a.is(hostIn(l)) })
}

// binds reports whether a pod's etcd listens for peers on the IPs of an address that is the pod's. A listener on one IP
// answers on no other.
func binds(pod *corev1.Pod, config etcdconf.Config, a address) bool {
	if listensOn(config, a) {
		return true
	}
	return len(config.ListenPeer) == 0 || slices.ContainsFunc(config.ListenPeer, func(l string) bool {
		ip, err := netip.ParseAddr(hostIn(l))
		if err != nil || ip.IsUnspecified() || ip.IsLoopback() {
			return true
		}
		own := address{ip: ip.Unmap()}
		return !a.ip.IsValid() && slices.ContainsFunc(pod.Status.PodIPs, func(p corev1.PodIP) bool { return own.is(p.IP) })
	})
}

// ofOther returns which other pod of the namespace has an address, empty for none. The error is why that is not known.
func (s *search) ofOther(ctx context.Context, pod *corev1.Pod, a address) (string, error) {
	var unknown error
	for i := range s.pods {
		other := &s.pods[i]
		if other.Name == pod.Name || ended(other) {
			continue
		}
		is, err := s.isOther(ctx, other, a)
		if is && !etcdconf.RunsEtcd(other) && !sameController(pod, other) {
			is, err = false, mayForward(a, other)
		}
		if is {
			return fmt.Sprintf("%s is the address of pod %s", a.host, other.Name), nil
		}
		unknown = cmp.Or(unknown, err)
	}
	return "", unknown
}

// isAt reports whether an address is that of a pod alone: its IP, its name under the headless Service that it names,
// or its node's address if it is in its node's network. The error is why that is not known.
func (s *search) isAt(ctx context.Context, pod *corev1.Pod, config etcdconf.Config, a address) (bool, error) {
	switch {
	case hasIP(pod, a), hasName(pod, a) && s.names(pod), listensOn(config, a):
		return true, nil
	case pod.Spec.HostNetwork && pod.Spec.NodeName != "":
		return s.atNode(ctx, pod, a)
	case hasHostPort(pod, a.port):
		at, err := s.atNode(ctx, pod, a)
		if at {
			err = fmt.Errorf("the peer address %s is that of a port of node %s", a.host, pod.Spec.NodeName)
		}
		return false, err
	}
	return false, nil
}

// hasName reports whether an address is the name of a pod under the headless Service that the pod names: only there
// the DNS of Kubernetes has a name of the pod.
func hasName(pod *corev1.Pod, a address) bool {
	return a.service != "" && a.namespace == pod.Namespace && a.service == pod.Spec.Subdomain && a.name == cmp.Or(pod.Spec.Hostname, pod.Name)
}

// names reports whether the headless Service that a pod names gives it a name in DNS.
func (s *search) names(pod *corev1.Pod) bool {
	return slices.ContainsFunc(s.services, func(of corev1.Service) bool {
		return of.Name == pod.Spec.Subdomain && of.Spec.ClusterIP == corev1.ClusterIPNone && !leadsOn(&of) &&
			labels.SelectorFromSet(observe.Uncut(&of)).Matches(labels.Set(pod.Labels))
	})
}

// sameController reports whether one object made both pods.
func sameController(a, b *corev1.Pod) bool {
	of, other := metav1.GetControllerOfNoCopy(a), metav1.GetControllerOfNoCopy(b)
	return of != nil && other != nil && of.UID == other.UID
}

// mayForward returns the error of an address of a pod that may be a proxy.
func mayForward(a address, pod *corev1.Pod) error {
	return fmt.Errorf("the peer address %s is that of pod %s/%s, which may be a proxy", a.host, pod.Namespace, pod.Name)
}

// isOther reports whether an address is that of a pod of the namespace that is not the member's. The error is why that
// is not known.
func (s *search) isOther(ctx context.Context, pod *corev1.Pod, a address) (bool, error) {
	if hasIP(pod, a) || hasName(pod, a) {
		return true, nil
	}
	if !pod.Spec.HostNetwork || !etcdconf.RunsEtcd(pod) {
		return false, nil
	}
	return s.onNode(ctx, pod, a)
}

// ofNone returns why an address that no pod of the namespace has is not that of a pod. The error is why that is not
// known.
func (s *search) ofNone(ctx context.Context, pod *corev1.Pod, a address) (string, error) {
	switch {
	case a.ip.IsValid():
		return s.ofNoIP(ctx, a)
	case a.namespace == "" && !strings.Contains(a.host, "."):
		return s.ofNoName(ctx, pod, a)
	case a.namespace == "":
		return "", fmt.Errorf("the peer address %s may be a name outside of the cluster", a.host)
	}
	service := cmp.Or(a.service, a.name)
	all, err := memberservices.List(ctx, s.reader, a.namespace)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(all, func(of corev1.Service) bool { return of.Name == service })
	switch {
	case at < 0:
		return fmt.Sprintf("there is no Service %s/%s", a.namespace, service), nil
	case a.service == "" || leadsOn(&all[at]):
		return "", isService(a, &all[at])
	case a.namespace != s.namespace:
		return fmt.Sprintf("%s is a name of namespace %s", a.host, a.namespace), nil
	}
	if dashedIP(a.name).IsValid() { // a headless Service gives such names to pods without a host name
		return "", isService(a, &all[at])
	}
	return fmt.Sprintf("no pod has the name %s", a.host), nil
}

// ofNoIP returns why an IP that no pod and no Service of the namespace has is not that of a pod. The error is why that
// is not known.
func (s *search) ofNoIP(ctx context.Context, a address) (string, error) {
	node, err := s.nodeWith(ctx, a)
	if err != nil {
		return "", err
	}
	if node != nil {
		return "", fmt.Errorf("the peer address %s is that of node %s", a.host, node.Name)
	}
	err = s.elsewhere(ctx, a)
	if other, is := errors.AsType[*ofOtherError](err); is && hasIP(other.pod, a) {
		if !etcdconf.RunsEtcd(other.pod) {
			return "", mayForward(a, other.pod)
		}
		return fmt.Sprintf("%s is the address of pod %s/%s", a.host, other.pod.Namespace, other.pod.Name), nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("no pod, Service or node has the address %s", a.host), nil
}

// ofNoName returns why a name of one label that no Service of the namespace has is not that of a pod. The error is why
// that is not known. A node's name leads to a pod only by a port of the node.
func (s *search) ofNoName(ctx context.Context, pod *corev1.Pod, a address) (string, error) {
	for i := range s.pods {
		for _, alias := range s.pods[i].Spec.HostAliases {
			if slices.ContainsFunc(alias.Hostnames, func(name string) bool { return strings.EqualFold(name, a.host) }) {
				return "", fmt.Errorf("pod %s has the host alias %s", s.pods[i].Name, a.host)
			}
		}
	}
	node, err := s.nodeWith(ctx, a)
	byPort := slices.ContainsFunc(s.services, func(of corev1.Service) bool { return hasNodePort(&of, a.port) })
	switch {
	case node != nil:
		return "", fmt.Errorf("the peer address %s is that of node %s", a.host, node.Name)
	case searchesElsewhere(pod):
		return "", fmt.Errorf("the peer address %s may be found by the DNS settings of pod %s", a.host, pod.Name)
	case err != nil && (pod.Spec.HostNetwork || hasHostPort(pod, a.port) || byPort):
		return "", err
	}
	return fmt.Sprintf("no Service and no host alias has the name %s", a.host), nil
}

// searchesElsewhere reports whether a pod completes a name of one label by other domains than those of its namespace.
func searchesElsewhere(pod *corev1.Pod) bool {
	p := pod.Spec.DNSPolicy
	return pod.Spec.HostNetwork || pod.Spec.DNSConfig != nil || p != "" && p != corev1.DNSClusterFirst
}
