// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// modelEvent is what may happen in one step. author is set for what the authors of budgets do, and pods for what
// changes which pods exist.
type modelEvent struct {
	name         string
	do           func(*model)
	author, pods bool
}

// modelEvents are all of them.
var modelEvents = []modelEvent{
	{name: "tie", do: func(m *model) { m.drop("another"); tie(m.stage) }},
	{name: "untie", do: func(m *model) { m.drop("another") }},
	{name: "off", do: func(m *model) { m.setMode(v1alpha1.ModeOff) }},
	{name: "warn", do: func(m *model) { m.setMode(v1alpha1.ModeWarn) }},
	{name: "enforce", do: func(m *model) { m.setMode(v1alpha1.ModeEnforce) }},
	{name: "policy deleted", do: func(m *model) { m.drop(string(m.stored.UID)) }},
	{name: "policy back", do: func(m *model) { m.drop(string(m.stored.UID)); m.Objects = append(m.Objects, m.stored) }},
	{name: "opt out", do: func(m *model) { m.optOut() }},
	{name: "opt in", do: func(m *model) { change(m.stage, "etcd", func(o *appsv1.StatefulSet) { o.Annotations = nil }) }},
	{name: "down 0", do: func(m *model) { m.setDown("etcd-0", true) }},
	{name: "down 1", do: func(m *model) { m.setDown("etcd-1", true) }},
	{name: "up", do: func(m *model) { clear(m.hung); m.setDown("", false) }},
	{name: "hang 0", do: func(m *model) { m.hang("etcd-0") }},
	{name: "new leader", do: func(m *model) { m.loseSize(); m.newLeader() }},
	{name: "scale 0", pods: true, do: func(m *model) { m.scaleTo(0) }},
	{name: "scale 1", pods: true, do: func(m *model) { m.scaleTo(1) }},
	{name: "scale 3", pods: true, do: func(m *model) { m.scaleTo(3) }},
	{name: "scale 5", pods: true, do: func(m *model) { m.scaleTo(5); m.unrecorded = m.unrecorded && m.voters > 5 }},
	{name: "scale 6", pods: true, do: func(m *model) { m.scaleTo(6); m.asked, m.unrecorded = max(m.asked, 6), m.unrecorded && m.voters > 6 }},
	{name: "scale 7", pods: true, do: func(m *model) { m.scaleTo(7); m.asked, m.unrecorded = 7, false }},
	{name: "promote", do: func(m *model) { m.promote() }},
	{name: "pods gone", pods: true, do: func(m *model) { removePod(m.stage, "etcd-3"); removePod(m.stage, "etcd-4") }},
	{name: "partial", author: true, do: func(m *model) { m.foreign("minAvailable: 0, selector: {" + byPod + "}") }},
	{name: "most", author: true, do: func(m *model) {
		m.foreign("minAvailable: 0, selector: {matchExpressions: [{key: statefulset.kubernetes.io/pod-name, operator: In, values: [etcd-0, etcd-1, etcd-2]}]}")
	}},
	{name: "whole", author: true, do: func(m *model) { m.foreign("minAvailable: 0, selector: {" + byApp + "}") }},
	{name: "percentage", author: true, do: func(m *model) { m.foreign("maxUnavailable: 80%, selector: {" + byApp + "}") }},
	{name: "always allow", author: true, do: func(m *model) {
		m.foreign("minAvailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow, selector: {" + byApp + "}")
	}},
	{name: "namespace", author: true, do: func(m *model) { m.foreign("maxUnavailable: 4, selector: {}") }},
	{name: "shared", author: true, do: func(m *model) {
		m.addOther()
		m.foreign("minAvailable: 1, selector: {matchExpressions: [{key: app, operator: In, values: [etcd, other]}]}")
	}},
	{name: "no foreign", author: true, do: func(m *model) { m.drop("theirs") }},
	{name: "ours narrowed", author: true, do: (*model).narrow},
	{name: "a moment", do: func(m *model) { m.wait(10 * time.Second) }},
	{name: "settled", do: func(m *model) { m.wait(time.Minute) }},
	{name: "former leader", do: (*model).formerLeader},
	{name: "restart", do: func(m *model) {
		m.loseSize()
		m.restart()
		m.budget.Health = m
	}},
}

// loseSize is what a new controller doesn't know: a size that is on no budget.
func (m *model) loseSize() {
	asked := *find[*appsv1.StatefulSet](m.stage, "etcd").Spec.Replicas
	m.unrecorded = m.unrecorded || len(m.recorded()) == 0 && int(asked) < m.voters
}

// narrow has another client change the selector of our budget, so that it selects one member.
func (m *model) narrow() {
	if _, exists := m.number("etcd-quorum"); exists {
		change(m.stage, "etcd-quorum", func(p *policyv1.PodDisruptionBudget) {
			p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{appsv1.StatefulSetPodNameLabel: "etcd-1"}}
		})
	}
}

// addOther adds the other cluster.
func (m *model) addOther() {
	if slices.ContainsFunc(m.Objects, func(o client.Object) bool { return o.GetUID() == "other" }) {
		return
	}
	m.Put(controllertest.Parse(m.t, `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: other, namespace: store, uid: other}
spec: {replicas: 3, serviceName: "", selector: {matchLabels: {app: other}}, template: {metadata: {labels: {app: other}}, spec: {containers: [{name: etcd, command: [etcd]}]}}}
`)[0])
	for _, name := range []string{"other-0", "other-1", "other-2"} {
		p := m.template.DeepCopy()
		p.Name, p.UID, p.Labels = name, types.UID(name), map[string]string{"app": "other", appsv1.StatefulSetPodNameLabel: name}
		p.OwnerReferences[0].Name, p.OwnerReferences[0].UID = "other", "other"
		m.Put(p)
	}
}

// formerLeader has a replica write by the objects as they were before the last event, since it doesn't know
// of its successor.
func (m *model) formerLeader() {
	if len(m.previous) == 0 {
		return
	}
	old := &Reconciler{
		Client: m.Store, Recorder: events.NewFakeRecorder(100), Clock: m.clock, Findings: &Findings{}, Health: m,
		Reader: &observe.Reader{Reader: m.previous, Leases: m.leases},
	}
	if _, err := old.Reconcile(m.t.Context(), m.key); err != nil {
		m.t.Fatal(err)
	}
}
