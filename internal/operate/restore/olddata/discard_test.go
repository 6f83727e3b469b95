// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package olddata

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

const (
	keptFirst  = "20261101T000000" // its deadline has passed
	keptSecond = "20261120T000000" // it has none
	keptRecord = keptFirst + " until=2026-11-08T00:00:00Z, " + keptSecond
)

// kubelet makes each new pod Ready.
type kubelet struct {
	client.Client

	cluster *operatetest.Cluster
	nodes   []string
}

func (k *kubelet) Create(ctx context.Context, o client.Object, opts ...client.CreateOption) error {
	if err := k.Client.Create(ctx, o, opts...); err != nil {
		return err
	}
	if pod, ok := o.(*corev1.Pod); ok {
		k.nodes = append(k.nodes, pod.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values...)
		path := operatetest.Path("Pod", pod.Name)
		made := k.cluster.Get(path)
		made["status"] = apitest.Object{"phase": "Running", "conditions": []any{apitest.Object{"type": "Ready", "status": "True"}}}
		k.cluster.Put(path, made)
	}
	return nil
}

// Patch deletes a volume whose reclaim policy becomes Delete.
func (k *kubelet) Patch(ctx context.Context, o client.Object, patch client.Patch, opts ...client.PatchOption) error {
	err := k.Client.Patch(ctx, o, patch, opts...)
	if pv, ok := o.(*corev1.PersistentVolume); ok && err == nil && pv.Spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimDelete {
		k.cluster.Remove(volumesAt + pv.Name)
	}
	return err
}

const volumesAt = "/api/v1/persistentvolumes/"

// discarding is a cluster in memory whose volumes are directories of this machine.
type discarding struct {
	*operatetest.Cluster

	*Discard

	dir     string
	kubelet *kubelet
	survey  etcd.Survey
	// fail is the helper pod whose command fails. shell means that the members' containers have one.
	fail  string
	shell bool
	// rmFails means that rm deletes nothing.
	rmFails bool
	// surveys is how often the members were asked, and execs are the pods in which data was removed.
	surveys int
	execs   []string
}

func newDiscarding(t *testing.T) *discarding {
	t.Helper()
	d := &discarding{Cluster: operatetest.NewCluster(t), dir: t.TempDir()}
	kube := d.Client(t)
	d.kubelet = &kubelet{Client: kube, cluster: d.Cluster}
	for i := range 3 {
		d.survey.Members = append(d.survey.Members, etcd.Member{Pod: fmt.Sprintf("main-%d", i), Leader: i == 0})
		d.survey.List = append(d.survey.List, etcd.Listed{ID: uint64(i + 1)})
	}
	for i := range d.survey.Members {
		d.survey.Members[i].ID, d.survey.Members[i].LeaderID, d.survey.Members[i].ClusterID = uint64(i+1), 1, 7
		for _, path := range []string{"member/snap", "member.before-" + keptFirst, "member.before-" + keptSecond, "member.undone-" + keptSecond, "member.before-20260101T000000", "member.before-mine"} {
			d.write(t, i, path)
		}
		if err := os.WriteFile(filepath.Join(d.dir, fmt.Sprintf("main-%d", i), "data/member.copied-"+keptSecond), nil, 0o600); err != nil { // sums, which are not listed
			t.Fatal(err)
		}
	}
	d.record(keptRecord)
	d.Discard = &Discard{
		Clients: step.Clients{Kube: d.kubelet, Namespace: "team", Clock: clock.RealClock{}, Exec: d.exec},
		Reader:  &observe.Reader{Reader: kube, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}, Image: "busybox",
		Survey: func(context.Context) (etcd.Survey, error) {
			d.surveys++
			return d.survey, nil
		},
		InMember: func(ctx context.Context, pod, container string, command []string) (string, error) {
			if container != "etcd" {
				return "", fmt.Errorf("no container %q", container)
			}
			if command[0] == "sh" && !d.shell {
				return "", errors.New(`exec: "sh": executable file not found in $PATH`)
			}
			if command[0] == "sh" && strings.Contains(command[2], "rm -rf") {
				d.execs = append(d.execs, pod)
			}
			var out strings.Builder
			err := d.exec(ctx, pod+"-restore", command, nil, &out)
			return out.String(), err
		},
		StillHeld: func() error { return nil }, Logf: t.Logf,
	}
	return d
}

func (d *discarding) write(t *testing.T, member int, path string) {
	t.Helper()
	dir := filepath.Join(d.dir, fmt.Sprintf("main-%d", member), "data", path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "db"), make([]byte, 8192), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (d *discarding) record(text string) {
	operatetest.Field(d.Get(operatetest.Path("StatefulSet", "main")), "metadata")["annotations"] = apitest.Object{v1alpha1.KeptDataAnnotation: text}
}

// exec runs a command on this machine, where /data is a directory of the pod.
func (d *discarding) exec(ctx context.Context, pod string, command []string, _ io.Reader, out io.Writer) error {
	if pod == d.fail {
		return errors.New("connection lost")
	}
	root := filepath.Join(d.dir, strings.TrimSuffix(pod, "-restore")) + "/data"
	var args []string
	if d.rmFails && command[0] == "sh" {
		command = []string{"sh", "-c", "rm() { :; }\n" + command[2]}
	}
	for _, arg := range command {
		args = append(args, strings.ReplaceAll(arg, "/data/", root+"/"))
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var failure strings.Builder
	text := &strings.Builder{}
	cmd.Stdout, cmd.Stderr = text, &failure
	err := cmd.Run()
	_, _ = io.WriteString(out, strings.ReplaceAll(text.String(), root+"/", "/data/"))
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.ReplaceAll(failure.String(), root+"/", "/data/"))
	}
	return nil
}

// judge reads the owner and judges.
func (d *discarding) judge(t *testing.T) (title string, steps []string, err error) {
	t.Helper()
	o, err := resolve.Target(t.Context(), d.Reader, "team", owner.Target{Kind: "statefulset", Name: "main"})
	if err != nil {
		t.Fatal(err)
	}
	d.Plan = restore.Plan{Owner: o, Flags: step.Flags{Kubectl: "-n team"}}
	p, err := d.Judge(t.Context())
	return p.Title, p.Steps, err
}

// left returns the names in the data directory of a member.
func (d *discarding) left(t *testing.T, member int) string {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(d.dir, fmt.Sprintf("main-%d", member), "data"))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func (d *discarding) recorded() any {
	return operatetest.Field(d.Get(operatetest.Path("StatefulSet", "main")), "metadata", "annotations")[v1alpha1.KeptDataAnnotation]
}

const untouched = "member member.before-20260101T000000"

// TestDiscard: what the records name is deleted, and nothing else. With Only, only that.
func TestDiscard(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		due      bool
		steps    int
		left     string
		recorded any
	}{
		{due: false, steps: 10, left: untouched + " member.before-mine"},
		{due: true, steps: 4, left: untouched + " member.before-" + keptSecond + " member.before-mine member.copied-" + keptSecond + " member.undone-" + keptSecond, recorded: keptSecond},
	} {
		d := newDiscarding(t)
		if row.due {
			d.Only = annotation.ParseKeptData(keptRecord)[:1]
		}
		_, steps, err := d.judge(t)
		if err != nil || len(steps) != row.steps || !strings.Contains(steps[0], "main-0: /data/member.before-"+keptFirst+", since 2026-11-01T00:00:00Z, 1") {
			t.Fatalf("due %t: %d steps %q, %v", row.due, len(steps), steps, err)
		}
		done, err := d.Act(t.Context())
		if err != nil || done.Freed < 3*8192 || done.Parts != row.steps-1 {
			t.Errorf("due %t: freed %s, %d parts, %v", row.due, done, done.Parts, err)
		}
		for member := range 3 {
			if left := d.left(t, member); left != row.left {
				t.Errorf("due %t: main-%d has %s, want %s", row.due, member, left, row.left)
			}
		}
		if d.recorded() != row.recorded {
			t.Errorf("due %t: the record is %v, want %v", row.due, d.recorded(), row.recorded)
		}
		if nodes := strings.Join(d.kubelet.nodes, " "); nodes != "node-0 node-1 node-2" {
			t.Errorf("the helpers run on %s", nodes)
		}
		if d.Get(operatetest.Path("Pod", "main-0-restore")) != nil {
			t.Error("a helper pod is left")
		}
	}
}

// TestDiscardRefused: nothing is deleted while the old data may be needed.
func TestDiscardRefused(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		set  func(d *discarding)
		want string
	}{
		{"a restore is unfinished", func(d *discarding) {
			d.Create(apitest.Object{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": "kubectl-etcd-main", "labels": apitest.Object{"app.kubernetes.io/managed-by": "kubectl-etcd"}},
				"data": apitest.Object{"journal.json": `{"kind":"snapshot restore","began":"2026-11-20T00:00:00Z","object":"sts","payload":{}}`},
			})
		}, "is unfinished"},
		{"only a scale is left of a restore", func(d *discarding) {
			d.Create(apitest.Object{
				"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": "kubectl-etcd-main", "labels": apitest.Object{"app.kubernetes.io/managed-by": "kubectl-etcd"}},
				"data": apitest.Object{"journal.json": `{"kind":"snapshot restore","began":"2026-11-20T00:00:00Z","object":"sts","scaleTo":5,"payload":{}}`},
			})
		}, "has ended, and members are still to be added: add them with kubectl etcd scale statefulset/main --replicas 5 -n team, or leave them out with kubectl etcd scale statefulset/main --abort -n team"},
		{"a member does not answer", func(d *discarding) { d.survey.Members[2].Err = errors.New("refused") }, "member main-2 doesn't answer"},
		{"two clusters", func(d *discarding) { d.survey.Members[2].ClusterID = 8 }, "main-2 doesn't follow the leader"},
		{"a member is missing", func(d *discarding) { d.survey.Members = d.survey.Members[:2] }, "2 members of 3"},
		{"corrupt", func(d *discarding) { d.survey.Members[1].Alarms = []string{"CORRUPT"} }, "main-1 reports that its data is corrupt"},
		{"no members", func(d *discarding) {
			operatetest.Field(d.Get(operatetest.Path("StatefulSet", "main")), "spec")["replicas"] = 0
		}, "no StatefulSet with members"},
		{"a volume for one pod", func(d *discarding) {
			operatetest.Field(d.Get(operatetest.Path("PersistentVolumeClaim", "data-main-1")), "spec")["accessModes"] = []any{"ReadWriteOncePod"}
		}, "data-main-1 is ReadWriteOncePod"},
	} {
		d := newDiscarding(t)
		row.set(d)
		if _, _, err := d.judge(t); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
	}
	d := newDiscarding(t)
	d.record("another, ../../member")
	if title, _, err := d.judge(t); title != "" || err != nil {
		t.Errorf("without a record: %q, %v", title, err)
	}
}

// TestDiscardInUse: data with which a member runs stays, also if a user has linked it under the usual name. So does
// all data beside a member whose own is not there.
func TestDiscardInUse(t *testing.T) {
	t.Parallel()
	for _, linked := range []bool{true, false} {
		d := newDiscarding(t)
		data := filepath.Join(d.dir, "main-1", "data")
		if err := os.RemoveAll(filepath.Join(data, "member")); err != nil {
			t.Fatal(err)
		}
		if linked {
			if err := os.Symlink("member.before-"+keptSecond, filepath.Join(data, "member")); err != nil {
				t.Fatal(err)
			}
		}
		if _, _, err := d.judge(t); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Act(t.Context()); err == nil {
			t.Error("it succeeds")
		}
		if left := d.left(t, 1); !strings.Contains(left, "member.before-"+keptSecond) {
			t.Errorf("main-1 has %s", left)
		}
		if d.recorded() != keptRecord {
			t.Errorf("the record is %v", d.recorded())
		}
	}
}

// TestDiscardInMember: a member's own container removes the data if it has a shell. No other pod mounts its volume,
// which may be ReadWriteOncePod.
func TestDiscardInMember(t *testing.T) {
	t.Parallel()
	d := newDiscarding(t)
	d.shell = true
	operatetest.Field(d.Get(operatetest.Path("PersistentVolumeClaim", "data-main-1")), "spec")["accessModes"] = []any{"ReadWriteOncePod"}
	if _, _, err := d.judge(t); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Act(t.Context()); err != nil || d.recorded() != nil {
		t.Errorf("%v, the record is %v", err, d.recorded())
	}
	if pods := strings.Join(d.execs, " "); pods != "main-0 main-1 main-2" || len(d.kubelet.nodes) > 0 {
		t.Errorf("removed in %s, and by helpers on %q", pods, d.kubelet.nodes)
	}
	if d.surveys != 1+2*3 {
		t.Errorf("the members were asked %d times", d.surveys)
	}
}

// TestDiscardStops: a member that is not healthy after a removal ends the command, and the other members keep their
// data.
func TestDiscardStops(t *testing.T) {
	t.Parallel()
	for _, shell := range []bool{false, true} {
		d := newDiscarding(t)
		d.shell = shell
		if _, _, err := d.judge(t); err != nil {
			t.Fatal(err)
		}
		d.Survey = func(context.Context) (etcd.Survey, error) {
			if !strings.Contains(d.left(t, 0), keptFirst) {
				d.survey.Members[0].Err = errors.New("permission denied")
			}
			return d.survey, nil
		}
		if _, err := d.Act(t.Context()); err == nil || !strings.Contains(err.Error(), "member main-0 doesn't answer") {
			t.Errorf("shell %t: %v", shell, err)
		}
		if left := d.left(t, 1); !strings.Contains(left, keptFirst) || d.recorded() != keptRecord {
			t.Errorf("shell %t: main-1 has %s, the record is %v", shell, left, d.recorded())
		}
	}
}

// TestAbsent: only the message of du about the path itself shows that it is not there.
func TestAbsent(t *testing.T) {
	t.Parallel()
	const path = "/data/member.before-" + keptFirst
	for text, want := range map[string]bool{
		"command terminated with exit code 1: du: cannot access '" + path + "': No such file or directory": true,
		"exit code 1: du: " + path + ": No such file or directory":                                         true,
		"du: cannot access '/a': No such file or directory\ndu: " + path + ": No such file or directory\n": true,
		`exec: "du": stat /usr/bin/du: no such file or directory`:                                          false,
		"OCI runtime exec failed: du: No such file or directory":                                           false,
		"du: " + path + ".wal: No such file or directory":                                                  false,
		"du: /mnt" + path + ": No such file or directory":                                                  false,
		"du: " + path + ": Permission denied":                                                              false,
		"":                                                                                                 false,
	} {
		if got := absent(text, path); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestDiscardNotKnown: what the member's container can't show counts as there, and the record stays until a helper
// pod has tried to remove it.
func TestDiscardNotKnown(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ out, err string }{
		{err: "exec failed: du: No such file or directory"},
		{err: `exec: "du": executable file not found in $PATH`},
		{err: "connection lost"},
		{out: "du: 8 files"},
		{out: ""},
	} {
		d := newDiscarding(t)
		d.InMember = func(context.Context, string, string, []string) (string, error) {
			if row.err == "" {
				return row.out, nil
			}
			return "", errors.New(row.err)
		}
		if _, steps, err := d.judge(t); err != nil || len(steps) != 13 || !strings.Contains(steps[0], "size not known") {
			t.Errorf("%v: %d steps %q, %v", row, len(steps), steps, err)
		}
	}
}

// TestDiscardStays: what is still there after rm is not reported as deleted, and the record stays.
func TestDiscardStays(t *testing.T) {
	t.Parallel()
	d := newDiscarding(t)
	d.rmFails = true
	var log []string
	d.Logf = func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
	if _, _, err := d.judge(t); err != nil {
		t.Fatal(err)
	}
	done, err := d.Act(t.Context())
	if err == nil || !strings.Contains(err.Error(), "is still there") || done.Parts != 0 || len(log) > 0 || d.recorded() != keptRecord {
		t.Errorf("%v, %d parts, %q, the record is %v", err, done.Parts, log, d.recorded())
	}
}

// TestDiscarded: the message has what was seen.
func TestDiscarded(t *testing.T) {
	t.Parallel()
	stays := []Kept{{Volume: "pv", Claim: "data", Size: -1, Stays: "it is Bound, and not Released"}}
	for _, row := range []struct {
		done Discarded
		want string
	}{
		{Discarded{Parts: 2, Freed: 4096}, "old data of a restore deleted, which freed 4.0 KiB"},
		{Discarded{Parts: 1, Freed: 4096, Stays: stays}, "which freed 4.0 KiB; PersistentVolume pv, from claim data, since 0001-01-01T00:00:00Z, size not known stays: it is Bound"},
		{Discarded{Stays: stays}, "no old data deleted; PersistentVolume pv"},
		{Discarded{}, "no old data was there"},
	} {
		if got := row.done.String(); !strings.Contains(got, row.want) {
			t.Errorf("%q, want %q", got, row.want)
		}
	}
}

// TestDiscardAgain: a discard that ends early leaves the record, and the same command does the rest.
func TestDiscardAgain(t *testing.T) {
	t.Parallel()
	d := newDiscarding(t)
	if _, _, err := d.judge(t); err != nil {
		t.Fatal(err)
	}
	d.fail = "main-1-restore"
	if _, err := d.Act(t.Context()); err == nil || d.recorded() != keptRecord {
		t.Fatalf("%v, the record is %v", err, d.recorded())
	}
	d.fail = ""
	d.StillHeld = func() error { return errors.New("the lock is lost") }
	if _, _, err := d.judge(t); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Act(t.Context()); err == nil || !strings.Contains(d.left(t, 1), keptFirst) {
		t.Errorf("without the lock: %v, main-1 has %s", err, d.left(t, 1))
	}
	d.StillHeld = func() error { return nil }
	if _, err := d.Act(t.Context()); err != nil || d.recorded() != nil || strings.Contains(d.left(t, 2), keptFirst) {
		t.Errorf("%v, the record is %v, main-2 has %s", err, d.recorded(), d.left(t, 2))
	}
}

// TestDiscardVolume: only a Released volume with the record of a selected restore of this cluster is deleted.
func TestDiscardVolume(t *testing.T) {
	t.Parallel()
	at, err := time.Parse("20060102T150405", keptFirst)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name, mark, namespace string
		phase                 corev1.PersistentVolumePhase
		ours, stays           bool
	}{
		{name: "kept", mark: keptFirst + " u Delete", ours: true},
		{name: "no record", mark: ""},
		{name: "another cluster", mark: keptFirst + " other Delete"},
		{name: "another restore", mark: keptSecond + " u Delete"},
		{name: "another namespace", mark: keptFirst + " u Delete", namespace: "other"},
		{name: "bound again", mark: keptFirst + " u Delete", phase: corev1.VolumeBound, ours: true, stays: true},
		{name: "it was Retain", mark: keptFirst + " u Retain", ours: true, stays: true},
		{name: "typed by hand", mark: keptFirst + " u", ours: true, stays: true},
	} {
		d := &Discard{Plan: restore.Plan{Owner: owner.Owner{Namespace: "team", UID: "u"}}}
		d.found.Records = append(d.found.Records, restore.KeptOf(owner.Owner{Annotations: map[string]string{v1alpha1.KeptDataAnnotation: keptFirst}})...)
		pv := &corev1.PersistentVolume{}
		pv.Name, pv.Annotations = "pv", map[string]string{v1alpha1.KeptDataAnnotation: row.mark}
		pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "team", Name: "main-main-0"}
		pv.Status.Phase = corev1.VolumeReleased
		if row.namespace != "" {
			pv.Spec.ClaimRef.Namespace = row.namespace
		}
		if row.phase != "" {
			pv.Status.Phase = row.phase
		}
		k, ours := d.volume(pv)
		if ours != row.ours || (k.Stays != "") != row.stays || ours && !k.Record.At.Equal(at) {
			t.Errorf("%s: ours %t, %+v", row.name, ours, k)
		}
	}
}

// TestDiscardVolumes: a kept volume gets its policy from before, and is deleted by that. One that has changed since it
// was listed stays.
func TestDiscardVolumes(t *testing.T) {
	t.Parallel()
	for _, changed := range []bool{false, true} {
		d := newDiscarding(t)
		d.record(keptFirst + " volumes until=2026-11-08T00:00:00Z")
		volume := func(name, uid, phase string) {
			d.Put(volumesAt+name, apitest.Object{
				"apiVersion": "v1", "kind": "PersistentVolume",
				"metadata": apitest.Object{"name": name, "annotations": apitest.Object{v1alpha1.KeptDataAnnotation: keptFirst + " " + uid + " Delete"}},
				"spec":     apitest.Object{"persistentVolumeReclaimPolicy": "Retain", "capacity": apitest.Object{"storage": "1Gi"}, "claimRef": apitest.Object{"namespace": "team", "name": "data-main-2"}},
				"status":   apitest.Object{"phase": phase},
			})
		}
		volume("ours", "sts", "Released")
		volume("theirs", "another", "Released")
		_, steps, err := d.judge(t)
		if err != nil || !strings.Contains(strings.Join(steps, "\n"), "PersistentVolume ours, from claim data-main-2, since 2026-11-01T00:00:00Z, 1.0 GiB") {
			t.Fatalf("%q, %v", steps, err)
		}
		if changed {
			volume("ours", "sts", "Bound")
		}
		_, err = d.Act(t.Context())
		if (err != nil) != changed || (d.Get(volumesAt+"ours") != nil) != changed || (d.recorded() != nil) != changed {
			t.Errorf("changed %t: %v, the volume is %v, the record %v", changed, err, d.Get(volumesAt+"ours"), d.recorded())
		}
		if d.Get(volumesAt+"theirs") == nil {
			t.Error("the volume of another cluster is deleted")
		}
	}
}

// TestRemoveVolume: a volume that is gone needs nothing.
func TestRemoveVolume(t *testing.T) {
	t.Parallel()
	d := newDiscarding(t)
	d.record(keptFirst + " volumes until=2026-11-08T00:00:00Z")
	if _, _, err := d.judge(t); err != nil {
		t.Fatal(err)
	}
	if deleted, err := d.removeVolume(t.Context(), Kept{Volume: "gone"}); deleted || err != nil {
		t.Errorf("a volume that is gone: %t, %v", deleted, err)
	}
}
