// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// Every cluster that can be made becomes Ready and keeps what is written into it. As many begin
// at once as there is room for: druid's need two minutes, most of which they wait.
func TestReadyMadeClusters(t *testing.T) {
	beside(t)
	ns := namespace(t)
	root := clusters.DruidSpec{RunAsRoot: true}
	for i, row := range []made{
		{readyMade: "druid-3", version: "3.5."},
		{readyMade: "druid-3", change: func(s *clusters.Spec) { s.TLS = true }, version: "3.5."},
		{readyMade: "druid-1", change: func(s *clusters.Spec) { s.Druid.NoBackups = true }, version: "3.5."},
		{readyMade: "druid-1", change: func(s *clusters.Spec) { s.TLS, s.Druid = true, root }, version: "3.5."},
		{readyMade: "plain-3", version: "3.7."},
		{readyMade: "plain-3", change: func(s *clusters.Spec) { s.TLS, s.Version = true, "3.6" }, version: "3.6."},
		{readyMade: "plain-3", change: func(s *clusters.Spec) { s.Version, s.Plain.Ordered = "3.5", true }, version: "3.5."},
		{readyMade: "plain-3", change: func(s *clusters.Spec) { s.Ephemeral, s.Plain.Shell, s.Plain.NoProbes = true, true, true }, version: "3.7."},
		{readyMade: "plain-5", version: "3.7."},
		{readyMade: "bitnami-3", version: "3.7."},
		{readyMade: "bitnami-3", change: func(s *clusters.Spec) { s.TLS, s.StorageClass = true, "node" }, version: "3.7."},
	} {
		name := fmt.Sprintf("%s-%c", row.readyMade, 'a'+i)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			row.begin(t, ns, name)
			if err := row.cluster.WaitReady(t.Context()); err != nil {
				t.Fatal(err)
			}
			works(t, row.cluster) // without probes, Ready proves little
			agrees(t, row.cluster, row.version)
			backedUp(t, row.cluster)
			saves(t, row.cluster)
			gone(t, row.cluster)
		})
	}
}

// made is a ready-made cluster with a change, and the version of etcd that it runs.
type made struct {
	readyMade, version string
	change             func(*clusters.Spec)
	cluster            *clusters.Cluster
}

// begin makes the cluster once there is room for it.
func (row *made) begin(t *testing.T, ns, name string) {
	t.Helper()
	spec, err := clusters.ReadyMade(row.readyMade)
	if err != nil {
		t.Fatal(err)
	}
	if row.change != nil {
		row.change(&spec)
	}
	enter(t, spec.Size)
	if row.cluster, err = clusters.Apply(t.Context(), bed, ns, name, spec); err != nil {
		t.Fatal(err)
	}
}

// agrees checks that the members are one cluster of the size and version.
func agrees(t *testing.T, c *clusters.Cluster, version string) {
	t.Helper()
	eventually(t, "members to agree on a leader", func(ctx context.Context) (string, bool, error) {
		healths, err := c.Health(ctx)
		if err != nil {
			return "", false, err
		}
		var errs []error
		leaders, members := map[uint64]bool{}, map[uint64]bool{}
		for _, h := range healths {
			errs = append(errs, h.Err)
			leaders[h.Leader], members[h.Member] = true, true
			if !strings.HasPrefix(h.Version, version) && h.Err == nil {
				t.Errorf("%s runs etcd %s, want %s", h.Pod, h.Version, version)
			}
		}
		seen := fmt.Sprintf("%d pods are %d members with leaders %v", len(healths), len(members), leaders)
		return seen, len(members) == c.Size && len(leaders) == 1 && !leaders[0], errors.Join(errs...)
	})
}

// backedUp checks that the store of a druid cluster really holds a snapshot: a
// condition with this state has been seen over an empty one.
func backedUp(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	if c.Flavour != clusters.Druid || c.Druid.NoBackups {
		return
	}
	eventually(t, "a full snapshot first in the store of "+c.String(), func(context.Context) (string, bool, error) {
		names, err := c.Snapshots()
		return fmt.Sprintf("%q", names), len(names) > 0 && strings.HasPrefix(names[0], "Full-"), err
	})
}

// gone deletes the cluster and checks that nothing of it is left.
func gone(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	if err := c.Delete(t.Context()); err != nil {
		t.Fatal(err)
	}
	var claims corev1.PersistentVolumeClaimList
	if err := kube.List(t.Context(), &claims, client.InNamespace(c.Namespace)); err != nil {
		t.Fatal(err)
	}
	for _, claim := range claims.Items {
		if strings.Contains(claim.Name, c.Name) {
			t.Errorf("volume claim %s is left", claim.Name)
		}
	}
	if _, err := os.Stat(filepath.Dir(c.StoreDir())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the store of %s is left: %v", c, err)
	}
}

// A store that can't be written to makes BackupReady False once there is something to
// write, and a full snapshot makes it True at once when it can.
func TestStoreBreaksAndHeals(t *testing.T) {
	operating(t, 1)
	c := start(t, namespace(t), "stored", clusters.Spec{Flavour: clusters.Druid, Size: 1})
	ctx := t.Context()
	if err := c.BreakStore(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.HealStore(context.WithoutCancel(ctx)); err != nil {
			t.Error(err)
		}
	})
	w := c.Write(ctx)
	if err := c.AwaitCondition(ctx, limit, clusters.BackupReady, "False"); err != nil {
		t.Error(err)
	}
	works(t, c)
	// A connection may be cut now and then where a machine is slow.
	if s := w.Stop(); s.Written == 0 || s.Failed*20 > s.Written {
		t.Errorf("of a broken store clients notice nothing, yet %d keys were written, %d not: %v", s.Written, s.Failed, s.LastErr)
	}
	if err := c.HealStore(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.SnapshotFull(ctx); err != nil {
		t.Fatal(err)
	}
	if err := c.AwaitCondition(ctx, limit, clusters.BackupReady, "True"); err != nil {
		t.Error(err)
	}
}

// The API server's answer to an eviction is handed on: a budget's refusal with its
// code, and success.
func TestEvict(t *testing.T) {
	operating(t, 3)
	all := intstr.FromInt32(3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true, Budget: &clusters.Budget{MinAvailable: &all}})
	pod := members(t, c)[0].Pod.Name
	evicts := func(code int32) {
		for _, evict := range []func(context.Context, string) (metav1.Status, error){c.MayEvict, c.Evict} {
			eventually(t, fmt.Sprintf("code %d", code), func(ctx context.Context) (string, bool, error) {
				// A budget that is new has not counted yet, and refuses.
				answer, err := evict(ctx, pod)
				return answer.Message, answer.Code == code, err
			})
		}
	}
	evicts(http.StatusTooManyRequests)
	loose := client.RawPatch(types.MergePatchType, []byte(`{"spec": {"minAvailable": null, "maxUnavailable": 1}}`))
	var budgets policyv1.PodDisruptionBudgetList
	if err := kube.List(t.Context(), &budgets, client.InNamespace(ns)); err != nil || len(budgets.Items) != 1 {
		t.Fatalf("%d budgets: %v", len(budgets.Items), err)
	}
	if err := kube.Patch(t.Context(), &budgets.Items[0], loose); err != nil {
		t.Fatal(err)
	}
	evicts(http.StatusCreated)
}
