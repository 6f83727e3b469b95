// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestDiagnoseDruid makes the states in which what etcd-druid reports is behind its members: etcd-druid stops at each
// of them.
func TestDiagnoseDruid(t *testing.T) {
	alone(t)
	c := sharedDruid(t)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := clusters.InstallDruid(ctx, bed, clusters.DruidOptions{}); err != nil {
			t.Error(err)
		}
		if err := c.WaitReady(ctx); err != nil {
			t.Error(err)
		}
	})
	all := members(t, c)

	thaw := freezeAll(t, all[1:])
	awaitMemberStatus(t, c, druidv1alpha1.EtcdMemberStatusUnknown)
	stopDruid(t)
	diagnosed(t, c, "S-7", "X-3")
	startDruid(t)
	for _, kind := range []string{"Ready", "AllMembersReady"} {
		if err := c.AwaitCondition(t.Context(), limit, kind, "False"); err != nil {
			t.Fatal(err)
		}
	}
	stopDruid(t)
	thaw()
	diagnosed(t, c, "S-3", "S-5")
	diagnosed(t, c, "S-2") // the leases are fresh, and the statuses are not Ready
	diagnosed(t, c, "X-15", "X-16")

	startDruid(t)
	if err := c.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	stopDruid(t)
	thawOne := freezeAll(t, all[2:])
	diagnosed(t, c, "S-4")
	thawOther := freezeAll(t, all[1:2])
	diagnosed(t, c, "S-6")
	diagnosed(t, c, "S-8")
	thawOne()
	thawOther()
}

// TestDiagnoseDruidReplicas changes the sizes of an Etcd and of its StatefulSet while etcd-druid is suspended.
func TestDiagnoseDruidReplicas(t *testing.T) {
	operating(t, 1)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Druid, Size: 1, Druid: clusters.DruidSpec{NoBackups: true}})
	resize := func(object string, replicas int) {
		typeLine(t, fmt.Sprintf(`kubectl patch %s -n %s --type merge -p '{"spec":{"replicas":%d}}'`, object, ns, replicas))
	}
	typeLine(t, "kubectl annotate etcd main -n "+ns+" "+druidv1alpha1.SuspendEtcdSpecReconcileAnnotation+"=true")
	typeLine(t, "kubectl create quota none --hard=pods=0 -n "+ns) // the sidecar of a second pod could add a member
	resize("statefulset main", 2)
	diagnosed(t, c, "X-17")
	resize("statefulset main", 1)
	resize("etcd main", 3)
	diagnosed(t, c, "S-11")
	typeLine(t, "kubectl delete quota none -n "+ns)
	typeLine(t, "kubectl annotate etcd main -n "+ns+" "+druidv1alpha1.SuspendEtcdSpecReconcileAnnotation+"-")
}

// freezeAll stops the processes of members until thaw is called or the test ends.
func freezeAll(t *testing.T, all []clusters.Member) (thaw func()) {
	t.Helper()
	var thaws []func()
	for _, m := range all {
		one, err := clusters.Freeze(m.Pod.UID, clusters.IsEtcd)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(one)
		thaws = append(thaws, one)
	}
	return func() {
		for _, one := range thaws {
			one()
		}
	}
}

// awaitMemberStatus waits until etcd-druid reports this status of a member.
func awaitMemberStatus(t *testing.T, c *clusters.Cluster, want druidv1alpha1.EtcdMemberConditionStatus) {
	t.Helper()
	eventually(t, "status "+string(want), func(ctx context.Context) (string, bool, error) {
		etcd, err := c.Etcd(ctx)
		if err != nil {
			return "", false, err
		}
		is := func(m druidv1alpha1.EtcdMemberStatus) bool { return m.Status == want }
		return fmt.Sprint(etcd.Status.Members), slices.ContainsFunc(etcd.Status.Members, is), nil
	})
}

// stopDruid stops etcd-druid.
func stopDruid(t *testing.T) {
	t.Helper()
	typeLine(t, "kubectl scale deployment etcd-druid --replicas 0 -n "+clusters.DruidNamespace)
	eventually(t, "etcd-druid to stop", func(ctx context.Context) (string, bool, error) {
		var pods corev1.PodList
		err := kube.List(ctx, &pods, client.InNamespace(clusters.DruidNamespace))
		return "", err == nil && len(pods.Items) == 0, err
	})
}

// startDruid starts etcd-druid again.
func startDruid(t *testing.T) {
	t.Helper()
	if err := clusters.InstallDruid(t.Context(), bed, clusters.DruidOptions{}); err != nil {
		t.Fatal(err)
	}
}
