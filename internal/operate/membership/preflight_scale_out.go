// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// checkScaleOut refuses a scale-out whose new members could not join, or would disturb clients.
func (m *Members) checkScaleOut(ctx context.Context, s *observation, target int, f *operate.Findings) error {
	checkPeerURLs(s, f)
	// Where there are more members than replicas, which is refused anyway, some have pods.
	for ordinal := max(s.Replicas, len(s.Members)); ordinal < target; ordinal++ {
		checkReplica(s, ordinal, f)
	}
	if s.OnDelete {
		f.Fact("the update strategy is OnDelete and stays so")
	}
	added := s.Ordinals[min(s.Replicas, target):target]
	if err := m.checkPeerServices(ctx, s, added, f); err != nil {
		return err
	}
	if err := m.checkClientServices(ctx, s, added, "", f); err != nil {
		return err
	}
	m.checkNames(ctx, s, target, f)
	m.checkProbe(s, f)
	return m.checkNodes(ctx, s, etcdconf.NextPod(s.sts, &s.template.template, s.Ordinals[target-1].Pod), target, f)
}

// checkReplica refuses an ordinal where a new member could not be reached or could not start.
func checkReplica(s *observation, ordinal int, f *operate.Findings) {
	replica, config := s.Ordinals[ordinal], s.configs[ordinal]
	if len(config.AdvertisePeer) != 1 {
		f.Refuse("%s would have %d peer URLs; one is supported", replica.Pod, len(config.AdvertisePeer))
	}
	if why := unreachable(replica.URL); why != "" {
		f.Refuse("%s would have the peer URL %s, %s: set initial-advertise-peer-urls to its name in the headless Service", replica.Pod, replica.URL, why)
	} else if !strings.HasPrefix(operate.HostOf(replica.URL), replica.Pod+".") {
		f.Refuse("%s would have the peer URL %s, which does not name the pod: set initial-advertise-peer-urls to its name in the headless Service", replica.Pod, replica.URL)
	}
	if !slices.ContainsFunc(config.ListenPeer, func(u string) bool { return !etcdconf.IsLoopback(operate.HostOf(u)) }) {
		f.Refuse("%s would listen for its peers on %s only: set listen-peer-urls to 0.0.0.0", replica.Pod, strings.Join(config.ListenPeer, ", "))
	}
	for _, claim := range s.claims[replica.Pod] {
		f.Refuse("PersistentVolumeClaim %s is left from an earlier member, whose data would keep the new one from joining: if it is not needed, kubectl delete pvc %s -n %s",
			claim.Name, claim.Name, claim.Namespace)
	}
	if replica.UID != "" {
		f.Refuse("pod %s exists already and is not a member of etcd: wait until it is deleted", replica.Pod)
	}
}

// checkClientServices judges the Services for clients that lead to new members of ordinals. broken is as in
// judgeClientServices.
func (m *Members) checkClientServices(ctx context.Context, s *observation, ordinals []membership.Replica, broken string, f *operate.Findings) error {
	services, err := memberservices.OfClients(ctx, m.Reader, m.Owner)
	if err != nil {
		return err
	}
	others := len(services) > 0
	services = slices.DeleteFunc(services, func(service corev1.Service) bool { return !s.leadsToNew(&service, ordinals) })
	if len(services) > 0 || !others {
		judgeClientServices(services, containers.Named(&s.template.template.Spec, s.configs[0].Container).ReadinessProbe, s.survey.Members, broken, f)
	}
	return nil
}

// leadsToNew reports whether a Service selects a new member of ordinals, and is not the one in which its peer URL has
// its name: that one must lead to a learner.
func (s *observation) leadsToNew(service *corev1.Service, ordinals []membership.Replica) bool {
	return slices.ContainsFunc(ordinals, func(r membership.Replica) bool {
		peers := memberservices.OfHost([]corev1.Service{*service}, s.sts, r.Pod, operate.HostOf(r.URL))
		if peers.Service != nil && peers.Name != s.sts.Spec.ServiceName {
			return false
		}
		pod := etcdconf.NextPod(s.sts, &s.template.template, r.Pod)
		for label, value := range observe.Uncut(service) {
			if has, is := pod.Labels[label]; is && has != value { // admission may add one that the template lacks
				return false
			}
		}
		return true
	})
}

// judgeClientServices refuses where clients would reach a learner, which rejects their requests.
// broken is the pod whose member is removed or down and gets replaced, empty for none. A new probe
// would restart all members, and so can't come before that: the voters that are left need the new
// member, and clients reach the pod's broken one now. judgeClientServices then only warns.
func judgeClientServices(services []corev1.Service, probe *corev1.Probe, members []etcd.Member, broken string, f *operate.Findings) {
	if len(services) == 0 {
		f.Warn("The headless Service is the only Service for clients: clients that resolve it reach each new member before it votes, and it rejects their requests until then.")
		return
	}
	how, kept := etcdconf.FailsOnLearner(probe, oldest(members))
	for _, service := range services {
		switch {
		case service.Spec.PublishNotReadyAddresses:
			f.Refuse("Service %s publishes addresses that are not ready, so clients would be sent to a learner, which refuses them: set publishNotReadyAddresses to false", service.Name)
		case !kept && broken != "":
			f.Warn("Service %s leads clients to the new member of %s before it votes, and the member rejects them until then: %s.", service.Name, broken, how)
		case !kept:
			f.Refuse("a learner would become an endpoint of Service %s and refuse its clients: %s; give etcd's container a readiness probe on /readyz", service.Name, how)
		default:
			f.Fact("Service %s leads to no learner: %s", service.Name, how)
		}
	}
}

// oldest returns the lowest version that a member runs.
func oldest(members []etcd.Member) string {
	var lowest *version.Version
	for _, m := range members {
		v, err := version.ParseGeneric(m.Version)
		if m.Err == nil && err == nil && (lowest == nil || v.LessThan(lowest)) {
			lowest = v
		}
	}
	if lowest == nil {
		return ""
	}
	return lowest.String()
}

// anyPod returns the first pod that exists, nil for none.
func (s *observation) anyPod() *corev1.Pod {
	for _, replica := range s.Ordinals {
		if pod := s.pods[replica.Pod]; pod != nil {
			return pod
		}
	}
	return nil
}

// checkProbe warns of a liveness probe that a learner fails.
func (m *Members) checkProbe(s *observation, f *operate.Findings) {
	probe := containers.Named(&s.template.template.Spec, s.configs[0].Container).LivenessProbe
	if probe != nil && probe.HTTPGet != nil && !strings.HasPrefix(probe.HTTPGet.Path, "/livez") {
		f.Warn("The liveness probe asks %s, which may kill a member that is catching up; /livez would not.", probe.HTTPGet.Path)
	}
}

// checkNodes refuses where there are too few nodes for target members. pod is the last new one.
func (m *Members) checkNodes(ctx context.Context, s *observation, pod *corev1.Pod, target int, f *operate.Findings) error {
	facts, err := scheduling.FactsOfCluster(ctx, m.Reader, m.Owner, pod, spread.ZoneKey)
	if apierrors.IsForbidden(err) {
		f.Warn("Nodes can't be read, so it is unknown whether there are enough for %s.", policy.Count(target, "member"))
		return nil
	}
	if err != nil {
		return err
	}
	own := terms.Self(pod)
	for _, running := range s.pods {
		own = append(own, keepsAway(running, pod)...)
	}
	judgeNodes(own, facts.Nodes, target, f)
	return nil
}

// keepsAway returns the terms of a running pod that keep a new one away from its node or zone.
func keepsAway(running, pod *corev1.Pod) []terms.Term {
	return slices.DeleteFunc(terms.Self(running), func(t terms.Term) bool {
		return t.Kind != spread.PodAntiAffinity || !terms.Selects(t.Selector, pod)
	})
}

// warnOfNodes warns where checkNodes refuses, and names the running members in the way. Admission warns of
// such a size of an Etcd, too: an autoscaler may add nodes for members that wait.
func (m *Members) warnOfNodes(ctx context.Context, s *observation, pod *corev1.Pod, target int, f *operate.Findings) error {
	strict := &operate.Findings{}
	if err := m.checkNodes(ctx, s, pod, target, strict); err != nil {
		return err
	}
	f.Facts, f.Warnings = append(f.Facts, strict.Facts...), append(f.Warnings, strict.Warnings...)
	for _, why := range strict.Refusals {
		f.Warn("New members wait until there are nodes for them: %s.", why)
	}
	var held []string
	for name, running := range s.pods {
		if slices.ContainsFunc(keepsAway(running, pod), func(t terms.Term) bool { return t.Hard }) {
			held = append(held, name)
		}
	}
	if slices.Sort(held); len(strict.Refusals) > 0 && len(held) > 0 {
		f.Warn("%s until recreated, so the new members may wait.", policy.Names(held, "requires its own node or zone", "require their own nodes or zones"))
	}
	return nil
}

// judgeNodes refuses more members than the terms, of the template or of running members, allow.
func judgeNodes(terms []terms.Term, eligible []spread.Node, target int, f *operate.Findings) {
	nodes, zones := len(eligible), map[string]bool{}
	for _, p := range eligible {
		if p.Zone != "" {
			zones[p.Zone] = true
		}
	}
	judged := map[string]bool{}
	for _, term := range terms {
		room, where := nodes, "nodes"
		if term.TopologyKey == spread.ZoneKey {
			room, where = len(zones), "zones"
		} else if term.TopologyKey != corev1.LabelHostname {
			continue
		}
		if term.Hard && term.Kind == spread.PodAntiAffinity && room < target && !judged[where] {
			judged[where] = true
			f.Refuse("each member needs its own (%s), and %d %s match: %d members could not be scheduled; add %s", term.TopologyKey, room, where, target, where)
		}
	}
	if nodes == 0 {
		f.Refuse("no node matches the pod template")
	}
	f.Fact("%d nodes in %d zones match the pods", nodes, len(zones))
}
