// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/cures"
)

// cure is a state of a plain cluster of three members, with the check that prints the command to
// end this state.
type cure struct {
	id string
	// result is the result of the check in this state.
	result string
	// build creates the state. If it is nil, the previous row leads to the state.
	build func(*testing.T, *clusters.Cluster)
	// choose fills in what the fix leaves to the user. If it is nil, the test types the fix as
	// it is printed.
	choose func(t *testing.T, c *clusters.Cluster, fix string) string
	// shows is true for a fix that changes nothing: it must run, and the finding remains.
	shows bool
}

// cureRows are in an order in which one cluster can have all states. For example, B001's cure
// creates the budget that the next rows change.
var cureRows = []cure{
	{id: "B001", result: "Warning"},
	{id: "B003", result: "Warning", build: patchBudget(`{"spec":{"minAvailable":1}}`)},
	{id: "B004", result: "Warning", build: patchBudget(`{"spec":{"unhealthyPodEvictionPolicy":"AlwaysAllow"}}`)},
	{id: "B005", result: "Warning", build: patchBudget(`{"spec":{"minAvailable":3}}`)},
	{id: "B002", result: "Failure", build: func(t *testing.T, c *clusters.Cluster) {
		t.Helper()
		labels := &metav1.LabelSelector{MatchLabels: map[string]string{"app": c.Name}}
		if err := kube.Create(t.Context(), budgetOf(c.Namespace, "second", labels)); err != nil {
			t.Fatal(err)
		}
	}},
	{id: "T001", result: "Warning", build: func(t *testing.T, c *clusters.Cluster) {
		t.Helper()
		plugin(t, 0, "cut-client-traffic", target(c), "--for", "30m", "--reason", "test of a cure", "-y", "-n", c.Namespace)
	}},
	{id: "T004", result: "Warning", build: func(t *testing.T, c *clusters.Cluster) {
		t.Helper()
		typeLine(t, `kubectl patch service `+c.Full()+` --type=merge -p '{"spec":{"publishNotReadyAddresses":false}}' -n `+c.Namespace)
	}},
	{id: "R001", result: "Warning", choose: nameLease},
	{id: "M004", result: "Warning", build: func(t *testing.T, c *clusters.Cluster) {
		t.Helper()
		plugin(t, 0, "member", "add", target(c), "--peer-urls", "http://nowhere-0."+c.Full()+":2380", "-y", "-n", c.Namespace)
	}},
	{id: "M001", result: "Failure", build: func(t *testing.T, c *clusters.Cluster) {
		t.Helper()
		if err := c.Scale(t.Context(), 2); err != nil {
			t.Fatal(err)
		}
	}},
	{id: "Q002", result: "Failure", shows: true, build: func(t *testing.T, c *clusters.Cluster) {
		t.Helper()
		if err := c.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
		wipe(t, c, c.Full()+"-1")
	}},
	{id: "Q001", result: "Failure"},
}

// druidCureRows are the states of a cluster of etcd-druid with one member.
var druidCureRows = []cure{
	{id: "O002", result: "Warning", build: annotateEtcd("druid.gardener.cloud/suspend-etcd-spec-reconcile")},
	{id: "O006", result: "Warning", build: annotateEtcd("druid.gardener.cloud/disable-etcd-component-protection")},
}

func annotateEtcd(key string) func(*testing.T, *clusters.Cluster) {
	return func(t *testing.T, c *clusters.Cluster) {
		t.Helper()
		typeLine(t, "kubectl annotate etcd "+c.Name+" "+key+"=true --overwrite -n "+c.Namespace)
	}
}

// TestCuresTyped creates each state, types the command that check prints, and waits until the
// finding is gone.
func TestCuresTyped(t *testing.T) {
	operating(t, 3)
	typeCures(t, cureRows, clusters.Spec{Flavour: clusters.Plain})
}

// TestDruidCuresTyped is TestCuresTyped for what only a cluster of etcd-druid has.
func TestDruidCuresTyped(t *testing.T) {
	operating(t, 1)
	spec := clusters.Spec{Flavour: clusters.Druid, Size: 1, Druid: clusters.DruidSpec{NoBackups: true}}
	typeCures(t, druidCureRows, spec)
}

// typeCures types the cures of rows on one cluster in a namespace of its own.
func typeCures(t *testing.T, rows []cure, spec clusters.Spec) {
	t.Helper()
	typeCuresIn(t, namespace(t), rows, spec)
}

// typeCuresIn types the cures of rows on one cluster.
func typeCuresIn(t *testing.T, namespaceName string, rows []cure, spec clusters.Spec) {
	t.Helper()
	var ids []string
	for _, row := range rows {
		ids = append(ids, row.id)
	}
	if want := cures.Typed()[t.Name()]; !slices.Equal(ids, want) {
		t.Fatalf("rows %v, but package cures lists %v", ids, want)
	}
	c := start(t, namespaceName, "cured", spec)
	for _, row := range rows {
		if !t.Run(row.id, func(t *testing.T) { row.typed(t, c) }) {
			return // the next row needs this state
		}
	}
}

// typed creates the state, types its cure, and waits until the finding is gone.
func (r cure) typed(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	if r.build != nil {
		r.build(t, c)
	}
	fix := firstFix(t, awaitChecked(t, c, map[string]string{r.id: r.result})[r.id])
	if r.choose != nil {
		fix = r.choose(t, c, fix)
	}
	typeLine(t, fix)
	if !r.shows {
		awaitChecked(t, c, map[string]string{r.id: "OK"})
	}
}

// firstFix returns the fix of the first finding that has one.
func firstFix(t *testing.T, r output.CheckResult) string {
	t.Helper()
	for _, f := range r.Findings {
		if f.Fix != "" {
			return f.Fix
		}
	}
	t.Fatalf("no finding of %s has a fix: %v", r.ID, r.Findings)
	return ""
}

// typeLine runs a line in a shell with the testbed's kubectl and the plugin. It adds -y, so that
// the plugin doesn't ask for confirmation. It repeats a line that fails.
func typeLine(t *testing.T, line string) {
	t.Helper()
	path, err := pluginPath()
	if err != nil {
		t.Fatal(err)
	}
	if verb, changes := strings.CutPrefix(line, "kubectl etcd "); changes && !strings.HasPrefix(verb, "check ") && !strings.HasPrefix(verb, "status ") {
		line += " -y"
	}
	tools := filepath.Dir(path) + ":" + filepath.Dir(bed.Kubectl()) + ":" + filepath.Join(bed.Dir(), "bin")
	// On a busy machine, too few members may answer in time. A person types the line again.
	eventually(t, line, func(ctx context.Context) (string, bool, error) {
		cmd := exec.CommandContext(ctx, "sh", "-c", line)
		cmd.Env = append(os.Environ(), "KUBECONFIG="+bed.Kubeconfig(), "PATH="+tools+":"+os.Getenv("PATH"))
		out, err := cmd.CombinedOutput()
		return fmt.Sprintf("%v: %s", err, out), err == nil, nil
	})
}

func patchBudget(patch string) func(*testing.T, *clusters.Cluster) {
	return func(t *testing.T, c *clusters.Cluster) {
		t.Helper()
		typeLine(t, "kubectl patch poddisruptionbudget "+c.Full()+" --type=merge -p '"+patch+"' -n "+c.Namespace)
	}
}

// nameLease creates the Lease that a backup job renews, and puts its name into the fix.
func nameLease(t *testing.T, c *clusters.Cluster, fix string) string {
	t.Helper()
	now := metav1.NowMicro()
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: "backups"},
		Spec:       coordinationv1.LeaseSpec{RenewTime: &now, HolderIdentity: new("job"), LeaseDurationSeconds: new(int32(time.Hour / time.Second))},
	}
	if err := kube.Create(t.Context(), lease); err != nil {
		t.Fatal(err)
	}
	_, command, found := strings.Cut(fix, ": kubectl ")
	if !found || !strings.Contains(command, "=LEASE ") {
		t.Fatalf("%q has no placeholder for a Lease", fix)
	}
	return "kubectl " + strings.Replace(command, "=LEASE ", "=backups ", 1)
}
