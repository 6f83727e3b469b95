// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"net"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/peers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// checkPeerURLs refuses to add members where others can't reach an existing one.
func checkPeerURLs(s *observation, f *operate.Findings) {
	for _, p := range s.Members {
		for u := range strings.SplitSeq(p.URL, ",") {
			why := unreachable(u)
			for _, pod := range s.pods {
				if peers.MayLose(pod, operate.HostOf(u)) {
					why = "an address that may change with the pod"
				}
			}
			if why != "" {
				f.Refuse("member %016x has the peer URL %s, %s: set initial-advertise-peer-urls and change it with etcdctl member update first", p.ID, u, why)
			}
		}
	}
}

// unreachable returns why other members can't reach a peer URL, empty where they may.
func unreachable(u string) string {
	host := operate.HostOf(u)
	switch ip := net.ParseIP(host); {
	case host == "" || ip != nil && ip.IsUnspecified():
		return "which is not an address"
	case etcdconf.IsLoopback(host):
		return "which no other pod can reach"
	}
	return ""
}

// checkPeerServices judges the Services in which new members of ordinals have their names.
func (m *Members) checkPeerServices(ctx context.Context, s *observation, ordinals []membership.Replica, f *operate.Findings) error {
	services, err := memberservices.List(ctx, m.Reader, m.Owner.Namespace)
	if err != nil {
		return err
	}
	judged := map[string]bool{}
	for _, replica := range ordinals {
		p := memberservices.OfHost(services, s.sts, replica.Pod, operate.HostOf(replica.URL))
		if !judged[p.Name] {
			judged[p.Name] = true
			judgePeerService(p, s.sts, f)
		}
	}
	return nil
}

// judgePeerService refuses where learners would have no DNS name: they are not Ready, and without a
// name the leader can't reach them.
func judgePeerService(p memberservices.PeerService, sts *appsv1.StatefulSet, f *operate.Findings) {
	const unpublished = "Service %s does not publish addresses that are not ready: a learner is not ready, so the leader would not find it; "
	switch {
	case p.Name == "": // the name may be one outside of the cluster
	case p.Service == nil && p.Name == sts.Spec.ServiceName:
		f.Refuse("headless Service %q, which the StatefulSet names, does not exist: members would have no names", p.Name)
	case p.Service == nil:
		f.Refuse("Service %s, which the peer URL of that pod names, does not exist: the other members would not find the new one", p.Name)
	case p.Service.Spec.PublishNotReadyAddresses:
	case !p.Headless() && p.Name == sts.Spec.ServiceName: // its clients would reach learners
		f.Refuse(unpublished+"clients may use the Service as well, so give the peer URLs names in a headless Service", p.Name)
	default:
		f.Refuse(unpublished+"kubectl patch service %s -n %s -p '{\"spec\":{\"publishNotReadyAddresses\":true}}'", p.Name, p.Name, sts.Namespace)
	}
}
