// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"testing"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
)

// TestDruidsProtectionDenies checks that etcd-webhook reports a write that etcd-druid's
// protection denies, and retries it. The write succeeds when druid exempts the service account.
func TestDruidsProtectionDenies(t *testing.T) {
	alone(t)
	ctx := t.Context()
	c := sharedDruid(t)
	awaitMin(t, c, 2, policy.AllReady.Name())
	if err := clusters.InstallDruid(ctx, bed, clusters.DruidOptions{Protection: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := clusters.InstallDruid(context.WithoutCancel(ctx), bed, clusters.DruidOptions{}); err != nil {
			t.Error(err)
		}
	})
	before := clientService(t, c)
	denied := []string{"cut client traffic of Service " + before.Name + ", as a dry run", "disallowed at the moment"}
	prints(t, 1, denied, "cut-client-traffic", c.Name, "-n", c.Namespace, "--for", "10m", "--reason", "a test", "-y")
	unchanged(t, c, before)
	node := nodeWithoutDruid(t, c)
	heal := cutNode(t, node)
	awaitEvent(t, c, "denied")
	account := fmt.Sprintf("system:serviceaccount:%s:%s", install.Namespace, install.Name)
	exempt := clusters.DruidOptions{Protection: true, ExemptServiceAccounts: []string{account, username(t)}}
	if err := clusters.InstallDruid(ctx, bed, exempt); err != nil {
		t.Fatal(err)
	}
	// The member on the isolated node may be evicted, and the other members may not.
	awaitMin(t, c, 2, policy.MemberDown.Name())
	heal()
	if err := c.WaitReady(ctx); err != nil {
		t.Fatal(err)
	}
	awaitMin(t, c, 2, policy.AllReady.Name())

	// An exempt user cuts and restores traffic as if druid protected nothing.
	report, _ := cutTraffic(t, c, 0, "10m")
	if err := c.Reconcile(ctx); err != nil {
		t.Fatal(err)
	}
	if got := cutUntil(t, c); report.RestoredBy != "etcd-webhook" || !got.Equal(report.Until.Time) {
		t.Errorf("after druid's reconciliation, the traffic is cut until %s: %+v", got, report)
	}
	// While druid reconciles, it also denies exempt users. The plugin waits.
	again := druidv1alpha1.DruidOperationReconcile
	if err := c.Annotate(ctx, druidv1alpha1.DruidOperationAnnotation, &again); err != nil {
		t.Fatal(err)
	}
	sameAgain(t, c, before)
}

// username returns the API server's name for the user of these tests.
func username(t *testing.T) string {
	t.Helper()
	var review authenticationv1.SelfSubjectReview
	if err := kube.Create(t.Context(), &review); err != nil {
		t.Fatal(err)
	}
	return review.Status.UserInfo.Username
}

// nodeWithoutDruid returns the node of a member on which druid doesn't run.
func nodeWithoutDruid(t *testing.T, c *clusters.Cluster) string {
	t.Helper()
	var druid string
	eventually(t, "druid's node", func(ctx context.Context) (seen string, done bool, err error) {
		druid, err = clusters.DruidNode(ctx, bed)
		return "", err == nil, err
	})
	for _, m := range members(t, c) {
		if m.Node != druid {
			return m.Node
		}
	}
	t.Fatalf("druid runs on the nodes of all members of %s", c)
	return ""
}
