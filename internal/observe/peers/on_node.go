// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package peers

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
)

// onNode reports whether a pod that is reached by its node's address serves a member's address: one in the
// node's network, or one with a port of the node. Other pods have the address too, so the port decides. The
// error is why it is not known.
func (s *search) onNode(ctx context.Context, pod *corev1.Pod, a address) (bool, error) {
	given := hasHostPort(pod, a.port)
	switch {
	case !pod.Spec.HostNetwork && !given || pod.Spec.NodeName == "":
		return false, nil
	case given:
		return s.atNode(ctx, pod, a)
	case !etcdconf.RunsEtcd(pod) && (etcdconf.DeniesEtcd(pod) || len(etcdconf.HintsOf(pod)) == 0):
		return false, nil
	}
	at, unread := s.atNode(ctx, pod, a)
	if !at && unread == nil {
		return false, nil
	}
	if !etcdconf.RunsEtcd(pod) {
		return false, fmt.Errorf("pod %s may have the address %s of its node, and may run etcd", pod.Name, a.host)
	}
	config, err := s.files.Config(ctx, pod)
	ports := config.ListenPeer
	if config.Where["initial-advertise-peer-urls"] != "" { // otherwise it is etcd's default
		ports = slices.Concat(ports, config.AdvertisePeer)
	}
	switch {
	case err != nil:
		return false, fmt.Errorf("pod %s may have the address %s of its node: %w", pod.Name, a.host, err)
	case slices.ContainsFunc(ports, func(u string) bool { return portOf(u) == a.port }):
		return at, unread
	case slices.ContainsFunc(ports, func(u string) bool { return portOf(u) == "" }):
		return false, fmt.Errorf("pod %s may have the address %s of its node, and only the pod has its ports", pod.Name, a.host)
	}
	return false, unknownIn(pod, config, "may have the address "+a.host+" of its node", "listen-peer-urls", "initial-advertise-peer-urls")
}

// atNode reports whether an address is that of a pod's node. The error is why it is not known.
func (s *search) atNode(ctx context.Context, pod *corev1.Pod, a address) (bool, error) {
	ips := []string{pod.Status.HostIP}
	for _, ip := range pod.Status.HostIPs {
		ips = append(ips, ip.IP)
	}
	if pod.Spec.HostNetwork {
		for _, ip := range pod.Status.PodIPs {
			ips = append(ips, ip.IP)
		}
	}
	if strings.EqualFold(pod.Spec.NodeName, a.host) || slices.ContainsFunc(ips, a.is) {
		return true, nil
	}
	var node corev1.Node
	if err := s.reader.Uncached().Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, &node); client.IgnoreNotFound(err) != nil {
		return false, fmt.Errorf("the node of pod %s may have the address %s: %w", pod.Name, a.host, err)
	}
	return hasAddress(&node, a), nil
}

func hasHostPort(pod *corev1.Pod, port string) bool {
	for _, c := range containers.Of(&pod.Spec) {
		if slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool {
			return p.HostPort != 0 && strconv.Itoa(int(p.HostPort)) == port
		}) {
			return true
		}
	}
	return false
}

func portOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Port()
}

// nodeWith returns the node with an address, nil for none.
func (s *search) nodeWith(ctx context.Context, a address) (*corev1.Node, error) {
	if s.nodes == nil {
		var nodes corev1.NodeList
		if err := s.reader.Uncached().List(ctx, &nodes); err != nil {
			return nil, mayHave(a, "node", err)
		}
		s.nodes = &nodes
	}
	for i := range s.nodes.Items {
		if node := &s.nodes.Items[i]; strings.EqualFold(node.Name, a.host) || hasAddress(node, a) {
			return node, nil
		}
	}
	return nil, nil //nolint:nilnil // as documented
}

func hasAddress(node *corev1.Node, a address) bool {
	return slices.ContainsFunc(node.Status.Addresses, func(of corev1.NodeAddress) bool {
		return strings.EqualFold(of.Address, a.host) || a.is(of.Address)
	})
}

// podsAtOnce is how many pods of all namespaces are read at once.
const podsAtOnce = 500

// podsInAll returns why an address is, or may be, that of a pod of another namespace: its IP, or its node's.
func (s *search) podsInAll(ctx context.Context, a address) error {
	for next := ""; ; {
		var pods corev1.PodList
		if err := s.reader.Uncached().List(ctx, &pods, client.Limit(podsAtOnce), client.Continue(next)); err != nil {
			return mayHave(a, "pod in another namespace", err)
		}
		for i := range pods.Items {
			if pod := &pods.Items[i]; pod.Namespace != s.namespace && !ended(pod) {
				if err := s.isInOther(ctx, pod, a); err != nil {
					return err
				}
			}
		}
		if next = pods.Continue; next == "" {
			return nil
		}
	}
}

// isInOther returns why an address is, or may be, that of a pod of another namespace.
func (s *search) isInOther(ctx context.Context, pod *corev1.Pod, a address) error {
	other := &search{reader: s.reader, namespace: pod.Namespace, files: podfiles.New(s.reader, pod.Namespace)}
	is, err := hasIP(pod, a), error(nil)
	if !is {
		is, err = other.onNode(ctx, pod, a)
	}
	if is {
		return &ofOtherError{a.host, pod}
	}
	return err
}
