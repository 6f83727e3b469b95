// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestStopHooksOfPods: a hook that takes its member out of etcd is found whatever made the pod.
func TestStopHooksOfPods(t *testing.T) {
	t.Parallel()
	of := func(apiVersion, kind, name string, all ...etcdconf.MemberChange) func(*Facts) {
		return func(f *Facts) {
			f.Owner.WorkloadKind, f.Owner.Distribution, f.Owner.StatefulSet = owner.Pods, flavour.UnknownPods, ""
			f.Owner.APIVersion, f.Owner.Kind, f.Owner.Name, f.StatefulSet.Value, f.Owner.MemberChanges = apiVersion, kind, name, nil, all
			if kind != "Pods" {
				f.Owner.Controller = &metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name}
			}
		}
	}
	remove := etcdconf.MemberChange{Container: "etcd", Hook: etcdconf.PreStop, Verb: "remove"}
	ofSecond := remove
	ofSecond.Workload = "b"
	const once = "one pod at a time, because each runs the old hook when it stops and must become a member again or be replaced, "
	judge(t, []row{
		{name: "no hook of a Deployment's pod", id: "W011", with: of("apps/v1", "Deployment", "a"), want: OK},
		{name: "a Deployment's hook removes", id: "W011", size: 1, with: of("apps/v1", "Deployment", "a", remove), want: Warning,
			message:  "the preStop hook of container etcd has etcdctl member remove: each eviction, restart and rollout takes a voter out of etcd",
			wholeFix: once + "take etcdctl member remove out of the preStop hook of container etcd through Deployment a, as far as it has a field for it: kubectl edit deployment.apps a -n team"},
		{name: "the hook of one of several Deployments", id: "W011", with: of("v1", "Pods", "a", ofSecond), want: Warning, message: "the preStop hook of container etcd of b has etcdctl member remove",
			wholeFix: once + "take etcdctl member remove out of the preStop hook of container etcd of b in the manifests of its pods"},
		{name: "it can't be read", id: "W011", with: of("apps/v1", "Deployment", "a", etcdconf.MemberChange{Container: "etcd", Hook: "preStop", Unread: "/x: no ConfigMap has it"}), want: Unknown},
		{name: "a hook of pods beside a StatefulSet", id: "W011", with: func(f *Facts) { mixed(f); f.Owner.MemberChanges = []etcdconf.MemberChange{ofSecond} }, want: Warning, message: "of b has etcdctl member remove", wholeFix: once + "take etcdctl member remove out of the preStop hook of container etcd of b in the manifest of that pod"},
		{name: "the pods can't be read", id: "W011", with: func(f *Facts) { of("apps/v1", "Deployment", "a")(f); f.Pods.Err = errRefused }, want: Unknown},
		{name: "a hook that deletes the data", id: "W011", with: changesMembers(etcdconf.MemberChange{Container: "etcd", Hook: "preStop"}), want: Warning,
			message: "the preStop hook of container etcd has removal of the data directory: each eviction, restart and rollout leaves a voter without its data"},
		{name: "readiness of pods", id: "W002", with: of("apps/v1", "Deployment", "a"), want: NotApplicable, message: "no StatefulSet runs the members"},
	})
}
