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
	case !slices.ContainsFunc(ports, func(u string) bool { return portOf(u) == a.port }):
		return false, nil
	}
	return at, unread
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
	return slices.ContainsFunc(node.Status.Addresses, func(of corev1.NodeAddress) bool {
		return strings.EqualFold(of.Address, a.host) || a.is(of.Address)
	}), nil
}

func hasHostPort(pod *corev1.Pod, port string) bool {
	for _, c := range pod.Spec.Containers {
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
