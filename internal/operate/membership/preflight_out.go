// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// checkOut refuses a scale-out whose newcomers could not join, or would harm.
func (m *Members) checkOut(ctx context.Context, s *observation, target int, f *findings) error {
	checkPeerURLs(s.Members, f)
	// Where there are more members than replicas, which is refused anyway, some have pods.
	for place := max(s.Replicas, len(s.Members)); place < target; place++ {
		checkReplica(s, place, f)
	}
	if s.OnDelete {
		f.fact("the update strategy is OnDelete and stays so")
	}
	if err := m.checkPeerService(ctx, s, f); err != nil {
		return err
	}
	if err := m.checkClientServices(ctx, s, f); err != nil {
		return err
	}
	m.checkNames(ctx, s, target, f)
	m.checkProbe(s, f)
	return m.checkPlaces(ctx, s, target, f)
}

// checkPeerURLs refuses to add members to some whom nobody else can reach.
func checkPeerURLs(members []membership.Peer, f *findings) {
	for _, p := range members {
		for u := range strings.SplitSeq(p.URL, ",") {
			if why := unreachable(u); why != "" {
				f.refuse("member %016x has the peer URL %s, %s: set initial-advertise-peer-urls and change it with etcdctl member update first", p.ID, u, why)
			}
		}
	}
}

// checkReplica refuses a place where a new member could not be reached or could not start.
func checkReplica(s *observation, place int, f *findings) {
	seat, serving := s.Ordinals[place], s.serving[place]
	if len(serving.AdvertisePeer) != 1 {
		f.refuse("%s would have %d peer URLs; one is supported", seat.Pod, len(serving.AdvertisePeer))
	}
	if why := unreachable(seat.URL); why != "" {
		f.refuse("%s would have the peer URL %s, %s: set initial-advertise-peer-urls to its name in the headless Service", seat.Pod, seat.URL, why)
	} else if !strings.HasPrefix(operate.HostOf(seat.URL), seat.Pod+".") {
		f.refuse("%s would have the peer URL %s, which does not name the pod", seat.Pod, seat.URL)
	}
	if !slices.ContainsFunc(serving.ListenPeer, func(u string) bool { return !operate.Loopback(operate.HostOf(u)) }) {
		f.refuse("%s would listen for its peers on %s only: set listen-peer-urls to 0.0.0.0", seat.Pod, strings.Join(serving.ListenPeer, ", "))
	}
	for _, claim := range s.claims[seat.Pod] {
		f.refuse("PersistentVolumeClaim %s is left from an earlier member, whose data would keep the new one from joining: if nobody needs it, kubectl delete pvc %s -n %s",
			claim.Name, claim.Name, claim.Namespace)
	}
	if seat.UID != "" {
		f.refuse("pod %s is there already and no member of etcd: wait until it has gone", seat.Pod)
	}
}

// unreachable says why other members can't reach a peer URL wherever they run.
func unreachable(u string) string {
	host := operate.HostOf(u)
	switch ip := net.ParseIP(host); {
	case host == "" || ip != nil && ip.IsUnspecified():
		return "which is no address"
	case operate.Loopback(host):
		return "which no other pod can reach"
	case ip != nil:
		return "an address that changes with the pod"
	}
	return ""
}

func (m *Members) checkPeerService(ctx context.Context, s *observation, f *findings) error {
	service, err := m.Reader.PeerService(ctx, m.Owner)
	if err == nil {
		judgePeerService(service, s.sts.Spec.ServiceName, f)
	}
	return err
}

// judgePeerService wants learners to have names: they are not Ready, and without
// names the leader can't send them anything. service is nil for none of that name.
func judgePeerService(service *corev1.Service, name string, f *findings) {
	switch {
	case service == nil:
		f.refuse("headless Service %q, which the StatefulSet names, does not exist: members would have no names", name)
	case !service.Spec.PublishNotReadyAddresses:
		f.refuse("Service %s does not publish addresses that are not ready: a learner is not, so the leader would not find it; kubectl patch service %s -n %s -p '{\"spec\":{\"publishNotReadyAddresses\":true}}'",
			service.Name, service.Name, service.Namespace)
	}
}

func (m *Members) checkClientServices(ctx context.Context, s *observation, f *findings) error {
	services, err := m.Reader.ClientServices(ctx, m.Owner)
	if err == nil {
		judgeClientServices(services, containerOf(&s.template.template, s.serving[0].Container).ReadinessProbe, s.survey.Members, f)
	}
	return err
}

// judgeClientServices wants a learner kept from clients, since it refuses them.
func judgeClientServices(services []corev1.Service, probe *corev1.Probe, members []etcd.Member, f *findings) {
	if len(services) == 0 {
		f.warn("There is no Service for clients but the headless one: who resolves that finds each new member before it votes, and is refused by it until then.")
		return
	}
	how, kept := etcdconf.FailsOnLearner(probe, oldest(members))
	for _, service := range services {
		switch {
		case service.Spec.PublishNotReadyAddresses:
			f.refuse("Service %s publishes addresses that are not ready, so clients would be sent to a learner, which refuses them: set publishNotReadyAddresses to false", service.Name)
		case !kept:
			f.refuse("a learner would become an endpoint of Service %s and refuse its clients: %s; give etcd's container a readiness probe on /readyz", service.Name, how)
		default:
			f.fact("Service %s gets no learner: %s", service.Name, how)
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

func (m *Members) checkNames(ctx context.Context, s *observation, target int, f *findings) {
	for _, file := range []struct{ what, path string }{
		{"peer certificate", s.serving[0].PeerTLS.Cert}, {"serving certificate", s.serving[0].ClientTLS.Cert},
	} {
		if file.path == "" {
			continue
		}
		var text []byte
		if pod := s.anyPod(); pod != nil {
			text, _ = m.Reader.File(ctx, pod, s.serving[0].Container, file.path) // without it, it could not be seen
		}
		var hosts []string
		for place := s.Replicas; place < target; place++ {
			hosts = append(hosts, operate.HostOf(s.Ordinals[place].URL))
		}
		judgeCertificate(file.what, file.path, text, hosts, f)
	}
}

// anyPod is the first pod that is there, nil for none.
func (s *observation) anyPod() *corev1.Pod {
	for _, seat := range s.Ordinals {
		if pod := s.pods[seat.Pod]; pod != nil {
			return pod
		}
	}
	return nil
}

// judgeCertificate wants a certificate to be good for the newcomers' names. text is
// its file, empty where that can't be read.
func judgeCertificate(what, path string, text []byte, hosts []string, f *findings) {
	block, _ := pem.Decode(text)
	if block == nil {
		f.warn("Whether the %s is good for the new members could not be seen (%s).", what, path)
		return
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		f.refuse("the %s %s: %v", what, path, err)
		return
	}
	for _, host := range hosts {
		if certificate.VerifyHostname(host) != nil {
			f.refuse("the %s is not good for %s: it has %s; renew it with that name first", what, host, strings.Join(certificate.DNSNames, ", "))
		}
	}
}

// checkProbe warns of a liveness probe that a learner fails.
func (m *Members) checkProbe(s *observation, f *findings) {
	probe := containerOf(&s.template.template, s.serving[0].Container).LivenessProbe
	if probe != nil && probe.HTTPGet != nil && !strings.HasPrefix(probe.HTTPGet.Path, "/livez") {
		f.warn("The liveness probe asks %s, which may kill a member that is catching up; /livez would not.", probe.HTTPGet.Path)
	}
}

func (m *Members) checkPlaces(ctx context.Context, s *observation, target int, f *findings) error {
	pod := operate.PodOf(s.sts, s.template.template, s.Ordinals[target-1].Pod)
	facts, err := m.Reader.SpreadOutlook(ctx, m.Owner, pod, spread.ZoneKey)
	if apierrors.IsForbidden(err) {
		f.warn("Nodes can't be read, so whether there is room for %s could not be seen.", format.Members(target))
		return nil
	}
	if err != nil {
		return err
	}
	terms := observe.SelfTerms(pod)
	if running := s.anyPod(); running != nil {
		for _, t := range observe.SelfTerms(running) {
			if t.Kind == spread.PodAntiAffinity { // which keeps others away from it, too
				terms = append(terms, t)
			}
		}
	}
	judgePlaces(terms, facts.Nodes, target, f)
	return nil
}

// judgePlaces refuses more members than the terms, of the template or of members that run,
// have room for.
func judgePlaces(terms []observe.PodTerm, places []spread.Node, target int, f *findings) {
	nodes, zones := len(places), map[string]bool{}
	for _, p := range places {
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
			f.refuse("the members want one of their own each (%s), and %d %s match: %d members could not be placed; add %s", term.TopologyKey, room, where, target, where)
		}
	}
	if nodes == 0 {
		f.refuse("no node matches the pod template")
	}
	f.fact("%d nodes in %d zones match the pods", nodes, len(zones))
}

// scaleSteps say what will be done, in order.
func (m *Members) scaleSteps(s *observation, j *Change) []string {
	var steps []string
	for place := s.Replicas; place < j.Target; place++ {
		pod := s.Ordinals[place].Pod
		told := fmt.Sprintf("write initial-cluster with %s and state existing for %s", format.Members(place+1), pod)
		if s.InTemplate && !s.OnDelete {
			told = fmt.Sprintf("hold back updates of pods below ordinal %d, then %s", place, told)
		}
		steps = append(steps, told, fmt.Sprintf("add %s to etcd as a learner, set the replicas to %d", pod, place+1),
			fmt.Sprintf("wait until %s is within %d entries of the leader, promote it", pod, policy.LagLimit))
	}
	for place := s.Replicas - 1; place >= j.Target; place-- {
		pod := s.Ordinals[place].Pod
		last := "delete its volume claims"
		if j.KeepClaims {
			last = "keep its volume claims"
		}
		steps = append(steps, fmt.Sprintf("move leadership off %s if it leads, remove it from etcd", pod),
			fmt.Sprintf("set the replicas to %d, %s", place, last))
	}
	if j.Operation == membership.ScaleOut && s.InTemplate {
		steps = append(steps, "mark the pods as up to date and give the update strategy back, so that none restarts")
	}
	return steps
}
