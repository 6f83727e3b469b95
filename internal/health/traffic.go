// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func trafficChecks() []Check {
	return []Check{
		{
			ID: "T001", Category: Traffic, Title: "client traffic is not cut",
			Doc:  "The check reads whether kubectl etcd cut-client-traffic keeps clients from the members. It fails if the time of the cut ended a minute ago and the cut is still in force.",
			Cure: "Run kubectl etcd restore-client-traffic NAME.",
			run:  notCut,
		},
		{
			ID: "T002", Category: Traffic, Title: "clients have a Service of their own",
			Doc:  "If clients use the headless peer Service or the names of pods, you can't cut them off for a restore or a repair. These clients also notice each time a member stops or starts.",
			Cure: "Add a Service with a cluster IP for port 2379, and point clients to it.",
			run:  clientService, needs: NeedEndpoints,
		},
		{
			ID: "T003", Category: Traffic, Title: "the client Service has ready endpoints",
			Doc:  "Clients reach members through a Service only by endpoints that are ready. The check fails if no client Service has one. It warns if some have none, for example if each member has a Service.",
			Cure: "Check the members' readiness (M006) and the Service's selector.",
			run:  endpointsReady, needs: NeedEndpoints,
		},
		{
			ID: "T004", Category: Traffic, Title: "the peer Service publishes members that are not Ready",
			Doc:  "Members find each other through the headless Service. Without publishNotReadyAddresses, a member that starts has no name there, and the others can't reach it. A learner then never catches up. After an outage of all members, none may ever become Ready. The check judges the Service that the StatefulSet names. It does not apply if the members' peer URLs have no names there.",
			Cure: "Set publishNotReadyAddresses: true in the peer Service. This restarts nothing.",
			run:  peerService,
		},
	}
}

func notCut(f *Facts) []Finding {
	if f.Services.Err != nil {
		return []Finding{unknown("the Services", f.Services.Err)}
	}
	var found []Finding
	for i := range f.Services.Value {
		s := &f.Services.Value[i]
		value, has := s.Spec.Selector[v1alpha1.ClientTrafficKey]
		if !has {
			continue
		}
		fix := f.restoreTraffic()
		switch until, readable := observe.CutUntil(s, f.At); {
		case readable && until.Before(f.At) && f.At.Sub(until) <= observe.CutOverdue && (f.Installed.Value || f.Installed.Err != nil):
			found = append(found, warning(fix, "Service %s: clients are cut off; the cut ended %s ago, and etcd-webhook restores the traffic within a minute if it runs", s.Name, format.Age(f.At.Sub(until))))
		case !readable:
			found = append(found, failure(fix, "the selector of Service %s has %s=%q: clients are cut off without an end", s.Name, v1alpha1.ClientTrafficKey, value))
		case until.After(f.At):
			found = append(found, warning(fix, "Service %s: clients are cut off for another %s, until %s", s.Name, format.Age(until.Sub(f.At)), format.Time(until)))
		default:
			found = append(found, failure(fix, "Service %s: clients are still cut off although the cut ended %s ago: nothing restores the traffic", s.Name, format.Age(f.At.Sub(until))))
		}
	}
	return found
}

func clientService(f *Facts) []Finding {
	switch {
	case f.Services.Err != nil:
		return []Finding{unknown("the Services", f.Services.Err)}
	case f.Owner.WithoutStatefulSet():
		return notApplicable("the members are %s", "pods without a StatefulSet")
	case len(f.Services.Value) > 0:
		var names []string
		var found []Finding
		for _, s := range f.Services.Value {
			names = append(names, s.Name)
			if others := f.otherPods(s.Name); len(others) > 0 {
				found = append(found, warning("narrow the selector of Service "+s.Name+" to labels that the members alone have",
					"Service %s leads to %s as well: clients reach the one or the other at random", s.Name, policy.List(others)))
			}
		}
		if len(found) > 0 {
			return found
		}
		return ok("%s", policy.List(names))
	}
	return []Finding{info("add a Service with a cluster IP for the client port", "only headless Services select the members: client traffic can't be cut off for a repair")}
}

// otherPods returns the pods that a Service leads to and that are not members.
func (f *Facts) otherPods(service string) []string {
	if f.Slices.Err != nil || f.Pods.Err != nil {
		return nil
	}
	var others []string
	for _, slice := range f.Slices.Value {
		for _, e := range slice.Endpoints {
			if slice.Labels[discoveryv1.LabelServiceName] != service || e.TargetRef == nil || e.TargetRef.Kind != "Pod" {
				continue
			}
			member := slices.ContainsFunc(f.Pods.Value, func(p *corev1.Pod) bool { return p.Name == e.TargetRef.Name })
			if !member && !slices.Contains(others, e.TargetRef.Name) {
				others = append(others, e.TargetRef.Name)
			}
		}
	}
	slices.Sort(others)
	return others
}

func endpointsReady(f *Facts) []Finding {
	switch {
	case f.Services.Err != nil:
		return []Finding{unknown("the Services", f.Services.Err)}
	case f.Slices.Err != nil:
		return []Finding{unknown("the EndpointSlices", f.Slices.Err)}
	case f.Size() == 0:
		return notApplicable("the cluster is scaled to 0")
	}
	var without []string
	judged, report := 0, failure
	for _, s := range f.Services.Value {
		if _, cut := s.Spec.Selector[v1alpha1.ClientTrafficKey]; cut || s.Spec.ClusterIP == corev1.ClusterIPNone {
			continue
		}
		judged++
		if readyEndpoints(f.Slices.Value, s.Name) == 0 {
			without = append(without, s.Name)
		}
	}
	switch {
	case judged == 0:
		return notApplicable("there is no client Service that isn't cut")
	case len(without) < judged: // there may be one for each member
		report = warning
	}
	var found []Finding
	for _, name := range without {
		found = append(found, report(f.kubectl("get endpointslices -l "+discoveryv1.LabelServiceName+"="+name), "Service %s has no ready endpoint: no client reaches a member through it", name))
	}
	return found
}

func readyEndpoints(all []discoveryv1.EndpointSlice, service string) int {
	n := 0
	for _, slice := range all {
		if slice.Labels[discoveryv1.LabelServiceName] != service {
			continue
		}
		for _, e := range slice.Endpoints {
			if e.Conditions.Ready == nil || *e.Conditions.Ready {
				n++
			}
		}
	}
	return n
}

func peerService(f *Facts) []Finding {
	switch {
	case f.Peer.Err != nil:
		return []Finding{unknown("the peer Service", f.Peer.Err)}
	case f.Owner.WithoutStatefulSet():
		return notApplicable("the members are %s", "pods without a StatefulSet")
	case max(f.Size(), f.voters().total) <= 1:
		return notApplicable("one member has no peers")
	case f.Peer.Value.Name == "":
		return notApplicable("no peer URL is known to have a name in the StatefulSet's Service")
	case f.Peer.Value.Service == nil:
		return []Finding{warning(f.lostObject("create the headless Service "+f.Peer.Value.Name+", which the StatefulSet names"),
			"Service %s does not exist: the members' names don't resolve", f.Peer.Value.Name)}
	case f.Peer.Value.Service.Spec.PublishNotReadyAddresses:
		return nil
	}
	fix := f.kubectl("patch service " + f.Peer.Value.Name + ` --type=merge -p '{"spec":{"publishNotReadyAddresses":true}}'`)
	if !f.Peer.Value.Headless() { // its clients would reach members that are not Ready
		fix = "clients may use Service " + f.Peer.Value.Name + " as well, so give the peer URLs names in a headless Service that publishes members that are not Ready: the StatefulSet must be created again with its serviceName"
	}
	return []Finding{warning(fix, "Service %s hides members that are not Ready: they can't be found while they join", f.Peer.Value.Name)}
}

// Traffic returns whether clients reach the members by their own Services. A cut whose time
// is over stays in force until its key is gone.
func (f *Facts) Traffic() output.Traffic {
	if f.Services.Err != nil {
		return output.Traffic{State: output.TrafficUnknown}
	}
	if len(f.Services.Value) == 0 {
		return output.Traffic{State: output.TrafficNone}
	}
	t := output.Traffic{State: output.TrafficOpen}
	for i := range f.Services.Value {
		s := &f.Services.Value[i]
		t.Services = append(t.Services, s.Name)
		if !observe.IsCut(s) {
			continue
		}
		t.State = output.TrafficCut
		if until, readable := observe.CutUntil(s, f.At); readable && (t.Until == nil || until.After(t.Until.Time)) {
			t.Until = &metav1.Time{Time: until}
		}
	}
	return t
}
