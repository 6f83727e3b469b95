// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/certtest"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// skipHostChecks skips the checks that inspect the test machine instead of the cluster.
const skipHostChecks = "--skip=D009,Q007,M007,D008"

// checked returns the results of check for one cluster, by ID.
func checked(t *testing.T, code int, c *clusters.Cluster, args ...string) map[string]output.CheckResult {
	t.Helper()
	stdout, _ := plugin(t, code, append([]string{"check", c.Full(), "-n", c.Namespace, "-o", "json", skipHostChecks}, args...)...)
	var report output.CheckReport
	if err := json.Unmarshal([]byte(stdout), &report); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	results := map[string]output.CheckResult{}
	for _, r := range report.Checks {
		results[r.ID] = r
	}
	return results
}

// awaitChecked waits until each of these checks has this result. A change of the cluster may
// appear in the report with a delay.
func awaitChecked(t *testing.T, c *clusters.Cluster, want map[string]string, args ...string) map[string]output.CheckResult {
	t.Helper()
	var results map[string]output.CheckResult
	ids := strings.Join(slices.Sorted(maps.Keys(want)), ",")
	eventually(t, "check "+ids+" of "+c.String(), func(context.Context) (string, bool, error) {
		r := startPlugin(t, append([]string{"check", c.Full(), "-n", c.Namespace, "-o", "json", "--only", ids}, args...)...)
		code := r.wait(t)
		var report output.CheckReport
		if err := json.Unmarshal([]byte(r.stdout.String()), &report); err != nil {
			return fmt.Sprintf("exit code %d: %s", code, r.stderr.String()), false, nil //nolint:nilerr // the check is repeated
		}
		results = map[string]output.CheckResult{}
		seen, all := "", true
		for _, result := range report.Checks {
			results[result.ID] = result
			seen += fmt.Sprintf("%s %s %v; ", result.ID, result.Result, result.Findings)
			all = all && result.Result == want[result.ID]
		}
		return seen, all && len(results) == len(want), nil
	})
	return results
}

// reported runs all checks until judge accepts the report. judge returns what is wrong with the
// report, or an empty string.
func reported(t *testing.T, code int, c *clusters.Cluster, judge func(map[string]output.CheckResult) string, args ...string) map[string]output.CheckResult {
	t.Helper()
	var results map[string]output.CheckResult
	eventually(t, "the checks of "+c.String(), func(context.Context) (string, bool, error) {
		results = checked(t, code, c, args...)
		wrong := judge(results)
		return wrong, wrong == "", nil
	})
	return results
}

// onlyWarnings requires a report without failures, without unknown results, and with exactly
// these warnings.
func onlyWarnings(ids ...string) func(map[string]output.CheckResult) string {
	return func(results map[string]output.CheckResult) string {
		var warned []string
		wrong := ""
		for id, r := range results {
			switch r.Result {
			case "Failure", "Unknown":
				wrong += fmt.Sprintf("%s is %s: %v; ", id, r.Result, r.Findings)
			case "Warning":
				warned = append(warned, id)
			}
		}
		if slices.Sort(warned); !slices.Equal(warned, ids) {
			wrong += fmt.Sprintf("warnings %v, want %v", warned, ids)
		}
		return wrong
	}
}

// with requires these results. The report may have others.
func with(want map[string]string) func(map[string]output.CheckResult) string {
	return func(results map[string]output.CheckResult) string {
		wrong := ""
		for id, w := range want {
			if got := results[id]; got.Result != w {
				wrong += fmt.Sprintf("%s is %s, want %s: %v; ", id, got.Result, w, got.Findings)
			}
		}
		return wrong
	}
}

func fixOf(t *testing.T, r output.CheckResult) string {
	t.Helper()
	if len(r.Findings) == 0 {
		t.Fatalf("%s has no findings", r.ID)
	}
	return r.Findings[0].Fix
}

// TestPluginCheck checks healthy clusters of each flavour, with TLS and without. Then it makes a
// cluster unhealthy in ways that leave it running.
func TestPluginCheck(t *testing.T) {
	beside(t)
	t.Run("druid", func(t *testing.T) {
		t.Parallel()
		c := borrowDruid(t)
		awaitChecked(t, c, map[string]string{"Q001": "OK", "R002": "OK", "R003": "OK", "O004": "OK"})
	})
	t.Run("plain with TLS", func(t *testing.T) {
		t.Parallel()
		enter(t, 3)
		c := start(t, namespace(t), "plain", clusters.Spec{Flavour: clusters.Plain, TLS: true})
		// The volume claims are smaller than etcd's default quota. The cluster has neither a
		// budget nor backups.
		reported(t, 0, c, onlyWarnings("B001", "D007", "R001"))
		t.Run("certificate about to expire", func(t *testing.T) { expiringCertificate(t, c) })
		t.Run("member scaled away", func(t *testing.T) { scaledAway(t, c) })
	})
	t.Run("bitnami", func(t *testing.T) {
		t.Parallel()
		// With TLS the liveness probe is etcdctl endpoint health.
		reported(t, 0, borrowChart(t), onlyWarnings("D007", "R001", "W001"))
	})
}

// expiringCertificate adds a certificate that is valid for three days to a Secret that the
// members mount.
func expiringCertificate(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	var secret corev1.Secret
	if err := kube.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: c.Name + "-peer-tls"}, &secret); err != nil {
		t.Fatal(err)
	}
	secret.Data["old.crt"] = shortLived(t, 3*24*time.Hour)
	if err := kube.Update(t.Context(), &secret); err != nil {
		t.Fatal(err)
	}
	r := awaitChecked(t, c, map[string]string{"C002": "Failure"})["C002"]
	if want := "plain-peer-tls, key old.crt expires in 2 days"; !strings.Contains(r.Findings[0].Message, want) {
		t.Errorf("%s: %v, want %q", r.Result, r.Findings, want)
	}
	stdout, stderr := prints(t, 3, []string{"fails 1 check"}, "check", c.Full(), "-n", c.Namespace, "--only", "certificates")
	if !strings.Contains(stdout, "× FAIL    C002") || !strings.Contains(stdout, "fix: renew it in Secret "+c.Namespace+"/plain-peer-tls") {
		t.Errorf("unexpected output:\n%s", stdout)
	}
	if strings.Contains(stdout, "\x1b") {
		t.Errorf("stderr: %q; colour without a terminal: %t", stderr, strings.Contains(stdout, "\x1b"))
	}
}

func shortLived(t *testing.T, life time.Duration) []byte {
	t.Helper()
	template := &x509.Certificate{SerialNumber: big.NewInt(7), NotBefore: time.Now(), NotAfter: time.Now().Add(life)}
	return certtest.Make(t, template, nil).CertPEM
}

// scaledAway deletes a pod and leaves its member in etcd, as kubectl scale does.
func scaledAway(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	if err := c.Scale(t.Context(), 2); err != nil {
		t.Fatal(err)
	}
	results := awaitChecked(t, c, map[string]string{"M001": "Failure", "Q001": "OK", "Q002": "Failure"})
	want := "kubectl scale statefulset/plain --replicas 3 -n " + c.Namespace
	if got := fixOf(t, results["M001"]); got != want {
		t.Errorf("the fix is %q, want %q", got, want)
	}
}

// TestPluginCheckSick checks one cluster that has many problems at once.
func TestPluginCheckSick(t *testing.T) {
	operating(t, 4)
	ns := namespace(t)
	c := start(t, ns, "sick", clusters.Spec{Flavour: clusters.Plain, Size: 4, Ephemeral: true, Mutate: degrade})
	for _, name := range []string{"one", "two"} {
		labels := &metav1.LabelSelector{MatchLabels: map[string]string{"app": "sick"}}
		if err := kube.Create(t.Context(), budgetOf(ns, name, labels)); err != nil {
			t.Fatal(err)
		}
	}
	results := reported(t, 3, c, with(map[string]string{
		"Q001": "OK", "Q003": "Warning", "P001": "Warning", "B002": "Failure", "W001": "Warning", "W004": "Warning", "W006": "Warning", "D006": "Warning",
	}))
	t.Run("without rights", func(t *testing.T) { checkWithoutRights(t, c) })
	t.Run("the fix mends", func(t *testing.T) {
		shell(t, fixOf(t, results["B002"]))
		awaitChecked(t, c, map[string]string{"B001": "OK", "B002": "OK"})
	})
	t.Run("no space", func(t *testing.T) { noSpace(t, c) })
}

// degrade puts all members on one node. Their liveness probe fails when an alarm is raised. They
// have a tiny quota, no resource requests, and no time to stop.
func degrade(set *appsv1.StatefulSet) {
	pod := &set.Spec.Template.Spec
	pod.NodeSelector = map[string]string{corev1.LabelHostname: bed.Nodes()[0].Name}
	pod.TerminationGracePeriodSeconds = new(int64(1))
	etcd := &pod.Containers[0]
	etcd.Resources = corev1.ResourceRequirements{}
	etcd.Args = append(etcd.Args, "--quota-backend-bytes=8388608")
	etcd.LivenessProbe.HTTPGet.Path = "/health"
	etcd.LivenessProbe.FailureThreshold = 60 // so that the checks run before a restart
}

// noSpace fills the database up to its quota.
func noSpace(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	etcd, err := c.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer etcd.Close()
	value := strings.Repeat("x", 1<<16) // etcd refuses a value that doesn't fit, and a large one long before the quota
	eventually(t, "NOSPACE", func(ctx context.Context) (string, bool, error) {
		for n := range 200 {
			if _, err := etcd.Put(ctx, fmt.Sprintf("/fill/%d", n), value); err != nil {
				return err.Error(), rpctypes.Error(err) == rpctypes.ErrNoSpace, nil //nolint:errorlint // etcd's errors are values
			}
		}
		return "etcd accepted all writes", false, nil
	})
	r := awaitChecked(t, c, map[string]string{"D001": "Failure", "D002": "Failure", "D004": "OK"})
	if got, want := fixOf(t, r["D001"]), "kubectl etcd defrag statefulset/sick -n "+c.Namespace; got != want {
		t.Errorf("the fix is %q, want %q", got, want)
	}
	diagnosed(t, c, "X-19")
}

// checkWithoutRights runs the checks as a user who may only read the workload. Checks that need
// more are unknown, and name the missing permission.
func checkWithoutRights(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	const user = "check-viewer"
	grant(t, c.Namespace, user, "apps", "statefulsets", "get", "list")
	grant(t, c.Namespace, user, "", "pods", "get", "list")
	// A check that can't see the quorum doesn't succeed.
	results := reported(t, 3, c, with(map[string]string{"M006": "OK", "W001": "Warning"}), "--as", user)
	for id, awaitOutput := range map[string]string{
		"Q001": `cannot create resource "pods/portforward"`, "B001": `cannot list resource "poddisruptionbudgets"`,
		"P001": `cannot get resource "nodes"`, "T001": `cannot list resource "services"`,
	} {
		r := results[id]
		if r.Result != "Unknown" || !strings.Contains(fmt.Sprint(r.Findings), awaitOutput) || !strings.Contains(fixOf(t, r), "ask for the permission to") {
			t.Errorf("%s is %s: %v; want Unknown with %q", id, r.Result, r.Findings, awaitOutput)
		}
	}
}

// shell runs a line of a fix with the testbed's kubectl.
func shell(t *testing.T, line string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", line)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+bed.Kubeconfig(), "PATH="+filepath.Dir(bed.Kubectl())+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
}

// TestPluginCheckBackups checks that the report shows that backups have stopped.
func TestPluginCheckBackups(t *testing.T) {
	operating(t, 1)
	c := start(t, namespace(t), "backups", clusters.Spec{Flavour: clusters.Druid, Size: 1, Druid: clusters.DruidSpec{RunAsRoot: true}})
	awaitChecked(t, c, map[string]string{"R001": "OK", "R002": "OK", "R003": "OK"})
	if err := c.BreakStore(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.HealStore(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	writer := c.Write(t.Context())
	defer writer.Stop()
	r := awaitChecked(t, c, map[string]string{"R002": "Failure", "R003": "Failure"})
	want := "kubectl etcd snapshot save etcd/backups --via backup-restore -n " + c.Namespace
	if got := fixOf(t, r["R002"]); got != want {
		t.Errorf("the fix is %q, want %q", got, want)
	}
}
