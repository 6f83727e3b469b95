// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// The tests of this file and of diagnose_druid_test.go make the states of docs/rules/recovery.md on a cluster. Package
// cures lists which test makes which row.

// diagnosed waits until diagnose shows these rows of the cluster or of the restarts of its members.
func diagnosed(t *testing.T, c *clusters.Cluster, want ...string) {
	t.Helper()
	diagnosedBy(t, c, nil, want...)
}

// diagnosedBy is diagnosed with more arguments.
func diagnosedBy(t *testing.T, c *clusters.Cluster, args []string, want ...string) {
	t.Helper()
	eventually(t, fmt.Sprintf("%v of %s", want, c), func(context.Context) (string, bool, error) {
		r := startPlugin(t, append([]string{"diagnose", c.Full(), "-n", c.Namespace, "-o", "json"}, args...)...)
		code := r.wait(t)
		var d output.EtcdDiagnosis
		if err := json.Unmarshal([]byte(r.stdout.String()), &d); err != nil {
			return fmt.Sprintf("exit code %d: %s", code, r.stderr.String()), false, nil //nolint:nilerr // the command is repeated
		}
		var ids []string
		for _, s := range d.Scenarios {
			ids = append(ids, s.ID)
		}
		for _, m := range d.Restarts {
			ids = append(ids, m.ID)
		}
		if (code == 0) != (ids[0] == "S-1") {
			t.Errorf("exit code %d with %v", code, ids)
		}
		missing := slices.ContainsFunc(want, func(id string) bool { return !slices.Contains(ids, id) })
		return strings.Join(ids, " "), !missing, nil
	})
}

// TestDiagnose makes the states in which all members of a plain cluster can run.
func TestDiagnose(t *testing.T) {
	operating(t, 5)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain})
	diagnosed(t, c, "S-1")

	plugin(t, 0, "cut-client-traffic", "main", "-n", ns, "--for", "30m", "--reason", "a test", "-y")
	diagnosed(t, c, "X-14")
	plugin(t, 0, "restore-client-traffic", "main", "-n", ns, "-y")

	backupsIn(t, c, "none")
	diagnosed(t, c, "X-16")
	renewed := metav1.NewMicroTime(time.Now().Add(-48 * time.Hour))
	create(t, &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "old"}, Spec: coordinationv1.LeaseSpec{RenewTime: &renewed, HolderIdentity: new("job")}})
	backupsIn(t, c, "old")
	diagnosed(t, c, "X-12")
	typeLine(t, "kubectl annotate statefulset main -n "+ns+" "+v1alpha1.BackupLeaseAnnotation+"- "+v1alpha1.BackupMaxAgeAnnotation+"-")

	typeLine(t, "kubectl scale statefulset main -n "+ns+" --replicas 2")
	diagnosed(t, c, "S-13", "X-11")
	typeLine(t, "kubectl scale statefulset main -n "+ns+" --replicas 3")
	diagnosed(t, c, "S-1", "I-3")
	t.Run("addresses", func(t *testing.T) { diagnosesMembers(t, c) })
	t.Run("operations", func(t *testing.T) { diagnosesOperations(t, c) })

	typeLine(t, "kubectl scale statefulset main -n "+ns+" --replicas 0")
	diagnosed(t, c, "X-1")
}

// backupsIn names the Lease of a cluster's backups.
func backupsIn(t *testing.T, c *clusters.Cluster, lease string) {
	t.Helper()
	typeLine(t, "kubectl annotate statefulset main --overwrite -n "+c.Namespace+" "+v1alpha1.BackupLeaseAnnotation+"="+lease+" "+v1alpha1.BackupMaxAgeAnnotation+"=25h")
}

// diagnosesMembers changes etcd's list behind the back of the workload, and types what diagnose prints.
func diagnosesMembers(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	etcd := membersOf(t, c)
	last := survey(t, etcd).Members[2]
	retry(t, "another peer URL of main-2", func(ctx context.Context) error {
		conn, err := etcd.Client(ctx, "main-0")
		if err == nil {
			_, err = conn.MemberUpdate(ctx, last.ID, []string{"http://main-9.main." + c.Namespace + ".svc.cluster.local:2380"})
		}
		return err
	})
	diagnosed(t, c, "X-20")
	retry(t, "the peer URL of main-2 from before", func(ctx context.Context) error {
		conn, err := etcd.Client(ctx, "main-0")
		if err == nil {
			_, err = conn.MemberUpdate(ctx, last.ID, []string{"http://main-2.main." + c.Namespace + ".svc.cluster.local:2380"})
		}
		return err
	})
	diagnosed(t, c, "S-1")

	retry(t, "the removal of main-2", func(ctx context.Context) error {
		conn, err := etcd.Client(ctx, "main-0")
		if err == nil {
			_, err = conn.MemberRemove(ctx, last.ID)
		}
		return err
	})
	diagnosed(t, c, "X-8", "I-9")
	typeLine(t, nextCommand(t, c))
	diagnosed(t, c, "S-1")
}

// nextCommand returns the command that diagnose prints.
func nextCommand(t *testing.T, c *clusters.Cluster) string {
	t.Helper()
	command, _ := plugin(t, 3, "diagnose", c.Full(), "-n", c.Namespace, "-o", "jsonpath={.next.command}")
	return command
}

// diagnosesOperations interrupts a scale-out while its learner is frozen, and continues it as diagnose prints.
func diagnosesOperations(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	run := startPlugin(t, "scale", "main", "--replicas", "5", "-n", c.Namespace, "-y")
	eventually(t, "the journal of the scale-out", func(ctx context.Context) (string, bool, error) {
		err := kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: "kubectl-etcd-main"}, &corev1.ConfigMap{})
		return run.stderr.String(), err == nil, client.IgnoreNotFound(err)
	})
	var pod corev1.Pod
	var thaw func()
	eventually(t, "the learner to start", func(ctx context.Context) (string, bool, error) {
		err := kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: "main-3"}, &pod)
		if err == nil {
			thaw, err = clusters.Freeze(pod.UID, clusters.IsEtcd)
		}
		return fmt.Sprint(err), err == nil, nil
	})
	t.Cleanup(thaw)
	diagnosed(t, c, "X-10") // it waits for the learner
	kill(t, c, run)
	diagnosed(t, c, "X-6")
	thaw()
	typeLine(t, nextCommand(t, c))
	diagnosed(t, c, "S-1")
}

// TestDiagnoseLoss makes the states in which members don't run, until none is left.
func TestDiagnoseLoss(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain})
	const patch = `kubectl patch statefulset main --type strategic -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}},"template":{"spec":{"containers":[{"name":"etcd","image":"%s"}]}}}}' -n `
	typeLine(t, fmt.Sprintf(patch, "registry.invalid/etcd:none")+ns)
	diagnosed(t, c, "X-7", "I-3")
	diagnosed(t, c, "S-9")
	typeLine(t, `kubectl patch statefulset main --type merge -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":1}}}}' -n `+ns)
	remove(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "main-1"}})
	diagnosed(t, c, "X-3", "I-6")
	loseVolumes(t, c, "main-1", "main-2")
	diagnosed(t, c, "S-10", "I-8")
	loseVolumes(t, c, "main-0")
	diagnosed(t, c, "S-10", "I-7", "I-8")
}

// loseVolumes deletes the volumes of members, and their pods.
func loseVolumes(t *testing.T, c *clusters.Cluster, pods ...string) {
	t.Helper()
	for _, pod := range pods {
		var claim corev1.PersistentVolumeClaim
		if err := kube.Get(t.Context(), client.ObjectKey{Namespace: c.Namespace, Name: "data-" + pod}, &claim); err != nil {
			t.Fatal(err)
		}
		volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName}}
		remove(t, volume)
		if err := client.IgnoreNotFound(kube.Patch(t.Context(), volume, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`)))); err != nil {
			t.Fatal(err)
		}
		remove(t, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: pod}})
	}
}

// TestDiagnoseWiped makes the states of a member that lost its data while the quorum holds.
func TestDiagnoseWiped(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c := start(t, ns, "main", clusters.Spec{Flavour: clusters.Plain})
	remove(t, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "data-main-1"}})
	diagnosed(t, c, "I-10") // the claim stays as long as the pod does
	wipe(t, c, "main-1")
	diagnosed(t, c, "S-9", "I-4")
	typeLine(t, nextCommand(t, c))
	diagnosed(t, c, "S-1")
	loseVolumes(t, c, "main-2")
	diagnosed(t, c, "I-5")
}

// TestDiagnoseUnready makes the state of a member that is well and not Ready.
func TestDiagnoseUnready(t *testing.T) {
	operating(t, 3)
	c := start(t, namespace(t), "main", clusters.Spec{Flavour: clusters.Plain})
	typeLine(t, `kubectl patch statefulset main --type strategic -p '{"spec":{"updateStrategy":{"rollingUpdate":{"partition":2}},"template":{"spec":{"containers":[{"name":"etcd","readinessProbe":{"httpGet":{"path":"/nothing"}}}]}}}}' -n `+c.Namespace)
	diagnosed(t, c, "X-13")
}

// TestDiagnoseNew makes the states of a cluster that has not started, and of one of which nothing can be seen.
func TestDiagnoseNew(t *testing.T) {
	operating(t, 3)
	ns := namespace(t)
	c, err := clusters.Apply(t.Context(), bed, ns, "main", clusters.Spec{Flavour: clusters.Plain, Mutate: func(set *appsv1.StatefulSet) {
		set.Spec.Template.Spec.NodeSelector = map[string]string{"no-node": "has-this"}
	}})
	if err != nil {
		t.Fatal(err)
	}
	diagnosed(t, c, "X-5", "I-1", "I-2")
	const user = "diagnose-viewer"
	grant(t, ns, user, "apps", "statefulsets", "get", "list")
	diagnosedBy(t, c, []string{"--as", user}, "X-4")
}
