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

// TestReadyMadeClusters checks that every cluster that package clusters can create becomes Ready
// and stores what is written into it. As many clusters start at once as the machine has capacity
// for. A druid cluster needs two minutes, and mostly waits.
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
			works(t, row.cluster) // without probes, a pod is Ready before its member works
			agrees(t, row.cluster, row.version)
			backedUp(t, row.cluster)
			saves(t, row.cluster)
			deleteAll(t, row.cluster)
		})
	}
}

// made is a ready-made cluster with a change, and the version of etcd that it runs.
type made struct {
	readyMade, version string
	change             func(*clusters.Spec)
	cluster            *clusters.Cluster
}

// begin creates the cluster when there is capacity for it.
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

// agrees checks that the members form one cluster of the expected size and version.
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

// backedUp checks that the store of a druid cluster contains a snapshot. Druid has reported a
// good condition over an empty store.
func backedUp(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	if c.Flavour != clusters.Druid || c.Druid.NoBackups {
		return
	}
	eventually(t, "a full snapshot as the first file in the store of "+c.String(), func(context.Context) (string, bool, error) {
		names, err := c.Snapshots()
		return fmt.Sprintf("%q", names), len(names) > 0 && strings.HasPrefix(names[0], "Full-"), err
	})
}

// deleteAll deletes the cluster and checks that none of its objects remain.
func deleteAll(t *testing.T, c *clusters.Cluster) {
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
			t.Errorf("volume claim %s still exists", claim.Name)
		}
	}
	if _, err := os.Stat(filepath.Dir(c.StoreDir())); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the store of %s still exists: %v", c, err)
	}
}

// TestStoreBreaksAndHeals makes a store read-only. BackupReady becomes False when there is
// something to write. After the repair, a full snapshot makes BackupReady True at once.
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
	// On a slow machine, a connection may break now and then.
	if s := w.Stop(); s.Written == 0 || s.Failed*20 > s.Written {
		t.Errorf("a broken store must not affect clients, but %d writes succeeded and %d failed: %v", s.Written, s.Failed, s.LastErr)
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

// TestEvict checks that Evict returns the API server's answer: the code of a budget's refusal,
// or success.
func TestEvict(t *testing.T) {
	operating(t, 3)
	all := intstr.FromInt32(3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true, Budget: &clusters.Budget{MinAvailable: &all}})
	pod := members(t, c)[0].Pod.Name
	evicts := func(code int32) {
		for _, evict := range []func(context.Context, string) (metav1.Status, error){c.MayEvict, c.Evict} {
			eventually(t, fmt.Sprintf("code %d", code), func(ctx context.Context) (string, bool, error) {
				// The disruption controller hasn't evaluated a new budget yet, and the API
				// server refuses.
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
