// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package unschedulable

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

type deletions []string

func (d *deletions) Delete(_ context.Context, obj client.Object, opts ...client.DeleteOption) error {
	var o client.DeleteOptions
	o.ApplyOptions(opts)
	*d = append(*d, fmt.Sprintf("%s uid=%s version=%s", obj.GetName(), *o.Preconditions.UID, *o.Preconditions.ResourceVersion))
	return nil
}

func TestUnschedulable(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	required := []spread.Term{
		{Kind: spread.PodAntiAffinity, TopologyKey: spread.HostnameKey, Hard: true},
		{Kind: spread.TopologySpread, TopologyKey: spread.ZoneKey, Hard: true, MinDomains: 3},
	}
	const deleted = "bad-2 uid=u version=7"
	for _, row := range []struct {
		name   string
		zone   string // of the third member's volume, "" for none
		change func(*corev1.Pod)
		live   func(*corev1.Pod)
		// enforcement is the policy's present enforcement.
		enforcement v1alpha1.Enforcement
		// policy changes the policies.
		policy func(*v1alpha1.EtcdTopologyPolicy)
		waits  time.Duration
		// later is when it is reconciled again.
		later   time.Duration
		want    string
		requeue bool
		event   string
	}{
		{name: "its volume is in the zone of another member", zone: "a", waits: 3 * time.Minute, want: deleted, event: "different zones, and its volume doesn't allow that"},
		{name: "waits for a short time", zone: "a", waits: time.Minute, requeue: true},
		{name: "its volume is in the free zone", zone: "c", waits: time.Hour, requeue: true},
		{name: "its volume is provisioned without the scheduler", waits: time.Hour, want: deleted, event: "different zones, and its volume doesn't allow that"},
		{name: "scheduled", zone: "a", waits: time.Hour, change: func(p *corev1.Pod) { p.Spec.NodeName = "a1" }},
		{name: "scheduled, and the cache is stale", zone: "a", waits: time.Hour, live: func(p *corev1.Pod) { p.Spec.NodeName = "a1" }},
		{name: "deleted already", zone: "a", waits: time.Hour, live: func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now} }},
		{name: "without our record", zone: "a", waits: time.Hour, change: func(p *corev1.Pod) { p.Annotations = nil }},
		{name: "already preferred: recreated before", zone: "a", waits: time.Hour, change: func(p *corev1.Pod) {
			record(p, annotation.SpreadRecord{Terms: []spread.Term{required[0], {Kind: spread.TopologySpread, TopologyKey: spread.ZoneKey}}})
		}, requeue: true},
		{name: "the policy prefers it now, and its volume is in the free zone", zone: "c", enforcement: v1alpha1.EnforcementPreferred, waits: time.Hour, want: deleted, event: "different nodes, and no policy requires that any more"},
		{name: "the policy prefers it now, and its volume is in the zone of another member", zone: "a", enforcement: v1alpha1.EnforcementPreferred, waits: time.Hour, want: deleted, event: "MemberRespread"},
		{name: "more zones were required, and its volume is in the free zone", zone: "c", waits: time.Hour, change: func(p *corev1.Pod) {
			record(p, annotation.SpreadRecord{Terms: []spread.Term{required[0], {Kind: spread.TopologySpread, TopologyKey: spread.ZoneKey, Hard: true, MinDomains: 5}}})
		}, later: nodesSettle, want: deleted, event: "different zones, and with the current nodes, that is not required"},
		{name: "the policy wants different nodes only, and its volume is in the free zone", zone: "c", waits: time.Hour, policy: func(p *v1alpha1.EtcdTopologyPolicy) {
			p.Spec.Spread.Topology = v1alpha1.TopologyHostname
		}, want: deleted, event: "different zones, and no policy requires that any more"},
		{name: "fewer zones were required", zone: "c", waits: time.Hour, change: func(p *corev1.Pod) {
			record(p, annotation.SpreadRecord{Terms: []spread.Term{required[0], {Kind: spread.TopologySpread, TopologyKey: spread.ZoneKey, Hard: true}}})
		}, requeue: true},
		{name: "the policy is off, at first", zone: "c", waits: time.Hour, policy: disable, requeue: true},
		{name: "the policy is off", zone: "c", waits: time.Hour, policy: disable, later: 3 * time.Minute, want: deleted, event: "no policy requires that any more"},
		{name: "the policy is off, and holds longer", zone: "c", waits: time.Hour, policy: func(p *v1alpha1.EtcdTopologyPolicy) {
			disable(p)
			p.Spec.Disruption.Settle = &metav1.Duration{Duration: time.Hour}
		}, later: 3 * time.Minute, requeue: true},
		{name: "no policy is left", zone: "c", waits: time.Hour, policy: unselect, later: 3 * time.Minute, want: deleted, event: "no policy requires that any more"},
		{name: "the policy only warns", zone: "c", waits: time.Hour, policy: func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeWarn }, later: 3 * time.Minute, requeue: true},
		{name: "the record has no time, and may be the template's", zone: "a", waits: time.Hour, change: func(p *corev1.Pod) {
			p.Annotations = map[string]string{v1alpha1.SpreadAnnotation: annotation.SpreadRecord{Policy: "prod", Terms: required}.String()}
		}},
		{name: "the record is the template's", zone: "a", waits: time.Hour, change: func(p *corev1.Pod) {
			p.Annotations = map[string]string{v1alpha1.SpreadAnnotation: annotation.SpreadRecord{Policy: "prod", At: now.Add(-5 * time.Hour), Terms: required}.String()}
		}},
		{name: "the pod does not have the term on record", zone: "a", waits: time.Hour, change: func(p *corev1.Pod) { p.Spec.TopologySpreadConstraints = nil }, requeue: true},
		{name: "already preferred, and another term differs from the current one", zone: "a", waits: time.Hour, change: func(p *corev1.Pod) {
			record(p, annotation.SpreadRecord{Terms: []spread.Term{{Kind: spread.TopologySpread, TopologyKey: spread.HostnameKey, Hard: true}, {Kind: spread.TopologySpread, TopologyKey: spread.ZoneKey}}})
		}, requeue: true},
		{name: "a note of admission", zone: "c", change: func(p *corev1.Pod) {
			p.CreationTimestamp = metav1.NewTime(now.Add(-time.Minute))
			p.Spec.NodeName = "c1"
			record(p, annotation.SpreadRecord{Policy: "prod", Notes: []annotation.SpreadNote{{Reason: spread.VolumeZoneTaken.Name(), Message: "the zone is preferred"}}})
		}, event: "VolumeZoneTaken EtcdTopologyPolicy prod: the zone is preferred"},
		{name: "a note with a reason that no rule has", zone: "c", change: func(p *corev1.Pod) {
			p.CreationTimestamp = metav1.NewTime(now.Add(-time.Minute))
			p.Spec.NodeName = "c1"
			record(p, annotation.SpreadRecord{Policy: "prod", Notes: []annotation.SpreadNote{{Reason: "AnythingAtAll", Message: "the zone is preferred"}}})
		}},
		{name: "an old note", zone: "c", change: func(p *corev1.Pod) {
			p.Spec.NodeName = "c1"
			record(p, annotation.SpreadRecord{Notes: []annotation.SpreadNote{{Reason: spread.VolumeZoneTaken.Name(), Message: "the zone is preferred"}}})
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			pod := waiting(now, row.waits)
			record(pod, annotation.SpreadRecord{Policy: "prod", Terms: required})
			if row.change != nil {
				row.change(pod)
			}
			live := pod.DeepCopy()
			if row.live != nil {
				row.live(live)
			}
			base := controllertest.Policies(t)
			for _, o := range base {
				if p, ok := o.(*v1alpha1.EtcdTopologyPolicy); ok {
					p.Spec.Spread.Enforcement = row.enforcement
					if row.policy != nil {
						row.policy(p)
					}
				}
			}
			clock := clocktesting.NewFakePassiveClock(now)
			recorder, gone := events.NewFakeRecorder(10), &deletions{}
			u := &Reconciler{
				Client: gone, Recorder: recorder, Clock: clock,
				Reader: &observe.Reader{Reader: with(t, base, row.zone, pod), Live: with(t, base, row.zone, live)},
			}
			var result reconcile.Result
			for range 2 { // the second reconciliation records no Event
				var err error
				result, err = u.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(pod)})
				if err != nil {
					t.Fatal(err)
				}
				if len(*gone) > 0 {
					break
				}
				clock.SetTime(now.Add(row.later))
			}
			if got := strings.Join(*gone, " "); got != row.want {
				t.Errorf("deleted %q, want %q", got, row.want)
			}
			if (result.RequeueAfter > 0) != row.requeue {
				t.Errorf("reconciles again after %s", result.RequeueAfter)
			}
			got := controllertest.Recorded(t, recorder)
			if len(got) > 1 || strings.Contains(strings.Join(got, ""), row.event) != (row.event != "" || len(got) == 0) {
				t.Errorf("recorded %q, want %q", got, row.event)
			}
		})
	}
}

// waiting returns the third member of db/bad, for which there is no node.
func waiting(now time.Time, since time.Duration) *corev1.Pod {
	isController := true
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "db", Name: "bad-2", UID: "u", ResourceVersion: "7", Labels: map[string]string{"app": "bad"},
			CreationTimestamp: metav1.NewTime(now.Add(-time.Hour)),
			OwnerReferences:   []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "StatefulSet", Name: "bad", UID: "db-bad", Controller: &isController}},
		},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd"}}},
		Status: corev1.PodStatus{Conditions: []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, LastTransitionTime: metav1.NewTime(now.Add(-since)),
		}}},
	}
}

// record gives a pod a record of when it was created, and the terms on it.
func record(pod *corev1.Pod, r annotation.SpreadRecord) {
	r.At = pod.CreationTimestamp.Time
	pod.Annotations = map[string]string{v1alpha1.SpreadAnnotation: r.String()}
	members := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "bad"}}
	anti := &corev1.PodAntiAffinity{}
	pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints = &corev1.Affinity{PodAntiAffinity: anti}, nil
	for _, t := range r.Terms {
		switch {
		case !t.Hard:
		case t.Kind == spread.PodAntiAffinity:
			anti.RequiredDuringSchedulingIgnoredDuringExecution = append(anti.RequiredDuringSchedulingIgnoredDuringExecution,
				corev1.PodAffinityTerm{TopologyKey: t.TopologyKey, LabelSelector: members})
		default:
			c := corev1.TopologySpreadConstraint{TopologyKey: t.TopologyKey, LabelSelector: members, WhenUnsatisfiable: corev1.DoNotSchedule}
			if t.MinDomains > 0 {
				c.MinDomains = new(int32(t.MinDomains))
			}
			pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, c)
		}
	}
}

func disable(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = v1alpha1.ModeOff }

// unselect makes a policy select no cluster.
func unselect(p *v1alpha1.EtcdTopologyPolicy) {
	p.Spec.ClusterSelector = &v1alpha1.Selector{MatchLabels: map[string]v1alpha1.LabelValue{"no": "cluster"}}
}

// with adds volumes to db/bad, of which the first two are in zones a and b, and replaces the
// third member's pod.
func with(t *testing.T, base observetest.Objects, third string, pod *corev1.Pod) observetest.Objects {
	t.Helper()
	var text strings.Builder
	for i, zone := range []string{"a", "b", third} {
		if zone != "" {
			fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-bad-%d, namespace: db}, spec: {volumeName: pv-%d}}\n", i, i)
			fmt.Fprintf(&text, "---\n{apiVersion: v1, kind: PersistentVolume, metadata: {name: pv-%d}, spec: {nodeAffinity: {required: {nodeSelectorTerms: "+
				"[{matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [%s]}]}]}}}}\n", i, zone)
		}
	}
	out := append(observetest.Objects{pod}, controllertest.Parse(t, text.String())...)
	for _, o := range base {
		if sts, ok := o.(*appsv1.StatefulSet); ok && sts.Name == "bad" {
			sts.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
		}
		if o.GetName() != pod.Name || o.GetNamespace() != pod.Namespace {
			out = append(out, o)
		}
	}
	return out
}
