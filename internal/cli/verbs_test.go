// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdtest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// planChanged is the text of the refusal of a plan whose facts have changed. The tests of change have the whole message.
const planChanged = "has changed since the plan was made"

// verb is a command that changes something, with arguments that have it something to do.
type verb struct {
	path, args string
	set        func(*world)
	// detaches: --wait=false is possible. lockless: it takes no lock of one cluster.
	// besides: it may run beside an unfinished change of members.
	detaches, lockless, besides bool
}

var verbs = []verb{
	{path: "alarm disarm", args: "statefulset/main", set: raiseNoSpace, besides: true},
	{path: "cut-client-traffic", args: "statefulset/main --for 15m --reason test --detach", detaches: true},
	{path: "defrag", args: "statefulset/main"},
	{path: "drain-plan", args: "node-1 node-2 --run", set: (*world).evicts, lockless: true},
	{path: "member add", args: "statefulset/main --peer-urls http://new.example.com:2380"},
	{path: "member promote", args: "statefulset/main main-2", set: (*world).learner},
	{path: "member remove", args: "statefulset/main main-2", set: (*world).learner},
	{path: "member replace", args: "statefulset/main main-2 --force"},
	{path: "member replace", args: "etcd/main main-2 --force", set: (*world).druid},
	{path: "move-leader", args: "statefulset/main", besides: true},
	{path: "recover", args: "statefulset/main --lost main-1,main-2 --tool ETCDUTL --save-to SURVIVOR", set: (*world).fallen},
	{path: "restart", args: "statefulset/main"},
	{path: "restore-client-traffic", args: "statefulset/main", set: (*world).cut, detaches: true, besides: true},
	{path: "scale", args: "statefulset/main --replicas 5"},
	{path: "scale", args: "etcd/main --replicas 5", set: (*world).druid, detaches: true},
	{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL"},
	{path: "snapshot save", args: "etcd/main --via backup-restore", set: (*world).druid, besides: true},
	{path: "snapshot schedule", args: "statefulset/main --to s3://backups/team --image plugin:dev", detaches: true, besides: true},
	{path: "sweep", args: "--remove -n team", set: (*world).leftover, detaches: true, lockless: true, besides: true},
	{path: "volume grow", args: "statefulset/main --size 20Gi", set: (*world).expandable},
	{path: "webhook uninstall", set: (*world).install, detaches: true, lockless: true, besides: true},
}

// name distinguishes a verb on one kind of cluster from the same verb on another.
func (v verb) name() string {
	target, _, _ := strings.Cut(strings.TrimPrefix(v.args, "SNAPSHOT "), " ")
	return v.path + " " + strings.ReplaceAll(target, "/", " ")
}

func raiseNoSpace(w *world) {
	w.Etcd.Alarms = []*pb.AlarmMember{{MemberID: 2, Alarm: pb.AlarmType_NOSPACE}, {MemberID: 3, Alarm: pb.AlarmType_NOSPACE}}
}

// TestVerbs: the table has each command that changes something, and nothing else.
func TestVerbs(t *testing.T) {
	t.Parallel()
	var want, got []string
	var walk func(*cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Flags().Lookup("dry-run") != nil {
			want = append(want, strings.TrimPrefix(c.CommandPath(), "kubectl etcd "))
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRootCmd(app.New(genericiooptions.NewTestIOStreamsDiscard())))
	for _, v := range verbs {
		got = append(got, v.path)
	}
	for _, path := range want {
		if !slices.Contains(got, path) {
			t.Errorf("%q has --dry-run, so it changes something: add {path: %q, args: …} to verbs in internal/cli/verbs_test.go, "+
				"with arguments that let it change the cluster of the tests", path, path)
		}
	}
	for _, path := range got {
		if !slices.Contains(want, path) {
			t.Errorf("verbs in internal/cli/verbs_test.go has %q, and no command of this name has --dry-run", path)
		}
	}
}

// world is an API server and an etcd cluster in memory.
type world struct {
	*operatetest.Cluster

	controllers controllers
	out, err    bytes.Buffer
	config      string
}

func newWorld(t *testing.T, v verb) *world {
	t.Helper()
	w := &world{Cluster: operatetest.NewCluster(t), config: filepath.Join(t.TempDir(), "config")}
	if err := os.WriteFile(w.config, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(v.args, "ETCDUTL") {
		w.snapshot(t)
	}
	if v.set != nil {
		v.set(w)
	}
	return w
}

// snapshot writes an empty snapshot and a tool of etcd that shows the members' version.
func (w *world) snapshot(t *testing.T) {
	t.Helper()
	dir := filepath.Dir(w.config)
	w.Etcd.Database = etcdtest.Database(t)
	if err := os.WriteFile(filepath.Join(dir, "SNAPSHOT"), w.Etcd.Database, 0o600); err != nil {
		t.Fatal(err)
	}
	w.tool(t, "")
}

// tool writes a tool of etcd that shows the members' version, and ends with a command of the shell.
func (w *world) tool(t *testing.T, end string) {
	t.Helper()
	script := "#!/bin/sh\necho etcdutl version: 3.6.5\n" + end + "\n"
	if err := os.WriteFile(filepath.Join(filepath.Dir(w.config), "ETCDUTL"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
}

// evicts has the API server declare that it has evictions, as kubectl drain reads it.
func (w *world) evicts() {
	w.Put("/api/v1", apitest.Object{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1", "resources": []any{
		apitest.Object{"name": "pods/eviction", "namespaced": true, "kind": "Eviction", "group": "policy", "version": "v1", "verbs": []any{"create"}},
	}})
}

// learner makes the last member a learner.
func (w *world) learner() { w.Etcd.Members[2].IsLearner = true }

// fallen stops two of three members.
func (w *world) fallen() {
	for _, pod := range []string{"main-1", "main-2"} {
		w.Etcd.Stop(pod)
		status := operatetest.Field(w.Get(operatetest.Path("Pod", pod)), "status")
		status["conditions"] = []any{apitest.Object{"type": "Ready", "status": "False", "lastTransitionTime": "2026-01-01T00:00:00Z"}}
	}
}

// cut cuts client traffic.
func (w *world) cut() {
	operatetest.Field(w.Get(operatetest.Path("Service", "main")), "spec")["selector"] = apitest.Object{"app": "main", "kubectl-etcd.dev/client-traffic": "cut-until-4000000000"}
}

// expandable gives the claims a storage class that allows expansion.
func (w *world) expandable() {
	w.Put("/apis/storage.k8s.io/v1/storageclasses/fast", apitest.Object{
		"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": apitest.Object{"name": "fast"}, "allowVolumeExpansion": true,
	})
	for i := range 3 {
		w.Create(apitest.Object{
			"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": apitest.Object{"namespace": "team", "name": fmt.Sprintf("data-main-%d", i)},
			"spec":   apitest.Object{"storageClassName": "fast", "resources": apitest.Object{"requests": apitest.Object{"storage": "10Gi"}}},
			"status": apitest.Object{"phase": "Bound", "capacity": apitest.Object{"storage": "10Gi"}},
		})
	}
}

// druid has an Etcd control the StatefulSet.
func (w *world) druid() {
	w.Create(apitest.Object{
		"apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd", "metadata": apitest.Object{"namespace": "team", "name": "main", "uid": "etcd"},
		"status": apitest.Object{
			"observedGeneration": 1, "lastOperation": apitest.Object{"type": "Reconcile", "state": "Succeeded"},
			"conditions": []any{apitest.Object{"type": "AllMembersReady", "status": "True", "lastUpdateTime": time.Now().UTC().Format(time.RFC3339)}},
		},
		"spec": apitest.Object{"replicas": 3, "backup": apitest.Object{"store": apitest.Object{"provider": "Local", "container": "backups", "prefix": "main"}}},
	})
	operatetest.Field(w.Get(operatetest.Path("StatefulSet", "main")), "metadata")["ownerReferences"] = []any{apitest.Object{"apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd", "name": "main", "uid": "etcd", "controller": true}}
	for i, role := range []string{"Leader", "Member", "Member"} {
		w.Create(apitest.Object{
			"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": apitest.Object{
				"namespace": "team", "name": fmt.Sprintf("main-%d", i),
				"labels": apitest.Object{"app.kubernetes.io/part-of": "main", "app.kubernetes.io/component": "etcd-member-lease"},
			},
			"spec": apitest.Object{"holderIdentity": fmt.Sprintf("%d:%s", i+1, role), "renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z07:00")},
		})
	}
}

// managed makes the StatefulSet that of a controller that no product has.
func (w *world) managed() {
	operatetest.Field(w.Get(operatetest.Path("StatefulSet", "main")), "metadata")["ownerReferences"] = []any{apitest.Object{"apiVersion": "example.com/v1", "kind": "Cluster", "name": "main", "uid": "cluster", "controller": true}}
}

// leftover puts the journal of a StatefulSet that is gone.
func (w *world) leftover() {
	w.Create(apitest.Object{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": apitest.Object{"namespace": "team", "name": "kubectl-etcd-gone", "uid": "left", "labels": apitest.Object{"app.kubernetes.io/managed-by": "kubectl-etcd"}},
		"data":     apitest.Object{"journal.json": `{"kind":"scale","began":"2026-01-01T00:00:00Z","object":"gone","payload":{"Operation":"ScaleOut","Target":4,"Replicas":3}}`},
	})
}

// install leaves nothing but an installed etcd-webhook.
func (w *world) install() {
	for _, path := range w.Paths() {
		w.Remove(path)
	}
	w.Create(apitest.Object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": apitest.Object{
		"namespace": "etcd-webhook", "name": "etcd-webhook", "labels": apitest.Object{"app.kubernetes.io/name": "etcd-webhook", "app.kubernetes.io/part-of": "kubectl-etcd"},
	}, "spec": apitest.Object{"replicas": 2}})
}

// held puts a lock of another holder, who renews it before each read.
func (w *world) held() {
	names := []string{"kubectl-etcd-statefulset-main", "kubectl-etcd-etcd-main"}
	renew := func() {
		for _, name := range names {
			annotations := apitest.Object{"kubectl-etcd.dev/operation": "scale"}
			maps.Copy(annotations, operatetest.Field(w.Get(operatetest.Path("Lease", name)), "metadata", "annotations"))
			w.Create(apitest.Object{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": apitest.Object{
				"namespace": "team", "name": name, "annotations": annotations,
			}, "spec": apitest.Object{"holderIdentity": "cat@desk", "leaseDurationSeconds": 15, "renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")}})
		}
	}
	renew()
	w.Refuse = func(_, path string) int {
		if strings.HasPrefix(path, operatetest.Path("Lease", "")) {
			renew()
		}
		return 0
	}
}

// unfinished puts the journal of a change of members that has not ended.
func (w *world) unfinished() {
	w.Create(apitest.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": "kubectl-etcd-main"},
		"data": apitest.Object{"journal.json": `{"kind":"scale","began":"2026-01-01T00:00:00Z","object":"sts","payload":{"Operation":"ScaleOut","Target":4,"Replicas":3}}`},
	})
}

// unfinishedRestart puts the journal of a restart that has not ended.
func (w *world) unfinishedRestart() {
	w.Create(apitest.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": "kubectl-etcd-main"},
		"data": apitest.Object{"journal.json": `{"kind":"restart","began":"2026-01-01T00:00:00Z","object":"sts","payload":{"strategy":"rolling","pods":{}}}`},
	})
}

// unfinishedCut puts the journal of an operation that keeps clients away.
func (w *world) unfinishedCut(kind, payload string) {
	w.Create(apitest.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": "kubectl-etcd-main"},
		"data": apitest.Object{"journal.json": `{"kind":"` + kind + `","began":"2026-01-01T00:00:00Z","object":"sts","payload":` + payload + `}`},
	})
}

// state is all that the cluster has: each object with its version, and what etcd was asked to
// change.
func (w *world) state() string {
	var b strings.Builder
	for _, path := range w.Paths() {
		fmt.Fprintln(&b, path, operatetest.Field(w.Get(path), "metadata")["resourceVersion"])
	}
	fmt.Fprintln(&b, w.Etcd.Writes())
	return b.String()
}

// run runs a verb with more flags, without a terminal.
func (w *world) run(ctx context.Context, v verb, flags ...string) (code int) {
	args := slices.Concat(strings.Fields(v.path), strings.Fields(v.args), flags)
	for i, arg := range args {
		if arg == "SNAPSHOT" || arg == "ETCDUTL" || arg == "SURVIVOR" {
			args[i] = filepath.Join(filepath.Dir(w.config), arg)
		}
	}
	if !v.lockless {
		args = append(args, "-n", "team")
	}
	args = append(args, "--kubeconfig", w.config, "--server", w.Config().Host)
	a := app.New(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &w.out, ErrOut: &w.err})
	a.Clock = quickClock{}
	root := newRootCmd(a)
	root.SetArgs(args)
	return report(ctx, a, root.ExecuteContext(ctx))
}

// quickClock is a clock on which polls wait a hundredth of their time. Locks are renewed in real
// time, so that a slow machine loses none.
type quickClock struct{ clock.RealClock }

func (c quickClock) After(d time.Duration) <-chan time.Time {
	if d != lock.RetryPeriod {
		d /= 100
	}
	return c.RealClock.After(d)
}

// TestChangeProtocol: every verb goes through the driver, so each keeps its promises.
func TestChangeProtocol(t *testing.T) {
	t.Parallel()
	for _, promise := range []struct {
		name  string
		flags string
		set   func(*world)
		not   func(verb) bool
		code  int
		// text stands on stderr, all of it.
		text []string
	}{
		{name: "--dry-run=client writes nothing", flags: "--dry-run=client", text: []string{"Nothing was changed (--dry-run=client)."}},
		{name: "--dry-run=server writes nothing", flags: "--dry-run=server", text: []string{"The rules and the API server allow it. Nothing was changed (--dry-run=server)."}},
		{name: "no terminal", code: 2, text: []string{"there is no terminal to ask for confirmation"}},
		{name: "--wait=false", flags: "--wait=false -y", not: func(v verb) bool { return v.detaches }, code: 1, text: []string{"--wait=false is not possible with this command, because it does every step itself"}},
		{name: "--wait=false, detached", flags: "--wait=false --dry-run=client", not: func(v verb) bool { return !v.detaches }, text: []string{"Nothing was changed"}},
		{name: "a held lock", flags: "-y", set: (*world).held, not: func(v verb) bool { return v.lockless }, code: 2, text: []string{"is locked by cat@desk", "wait until it ends"}},
		{name: "an unfinished change", flags: "-y", set: (*world).unfinished, not: func(v verb) bool { return v.besides }, code: 2, text: []string{"unfinished", "--abort"}},
		{name: "an unfinished restart", flags: "-y", set: (*world).unfinishedRestart, not: func(v verb) bool { return v.besides || v.path == "restart" }, code: 2, text: []string{"kubectl etcd restart has been unfinished", "--abort"}},
		{name: "no permission", flags: "-y", set: func(w *world) { w.Deny = func(string, string) bool { return true } }, code: 1, text: []string{`user "ann" lacks`, "nothing was changed. Missing:"}},
	} {
		for _, v := range verbs {
			if promise.not != nil && promise.not(v) {
				continue
			}
			t.Run(promise.name+"/"+v.name(), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, v)
				if promise.set != nil {
					promise.set(w)
				}
				before := w.state()
				code := w.run(t.Context(), v, strings.Fields(promise.flags)...)
				if code != promise.code {
					t.Errorf("exit code %d, want %d", code, promise.code)
				}
				for _, text := range promise.text {
					if !strings.Contains(w.err.String(), text) {
						t.Errorf("stderr lacks %q", text)
					}
				}
				if after := w.state(); after != before && promise.name != "a held lock" {
					t.Errorf("something was written:\n%s\nbefore:\n%s", after, before)
				}
				if t.Failed() {
					t.Logf("stdout:\n%s\nstderr:\n%s", &w.out, &w.err)
				}
			})
		}
	}
}

// TestAnotherManager: a change that was interrupted can be undone although something else manages the
// members by now. It can't be continued, and no other change begins.
func TestAnotherManager(t *testing.T) {
	t.Parallel()
	replacement := func(w *world) {
		w.unfinished()
		operatetest.Field(w.Get(operatetest.Path("ConfigMap", "kubectl-etcd-main")), "data")["journal.json"] = `{"kind":"member replace","began":"2026-01-01T00:00:00Z","object":"sts","payload":{"Operation":"Replace","Target":3,"Replicas":3,"Place":1}}`
	}
	for _, row := range []struct {
		path, args string
		set        func(*world)
		code       int
		text       string
	}{
		{"scale", "etcd/main --abort", (*world).unfinished, 0, "undo scaling Etcd team/main to 4 members"},
		{"scale", "etcd/main --replicas 4", (*world).unfinished, 2, "etcd-druid adds and removes its members now: undo it with kubectl etcd scale etcd/main --abort -n team"},
		{"scale", "etcd/main --replicas 5", (*world).unfinished, 2, "undo it with kubectl etcd scale etcd/main --abort -n team"},
		{"scale", "etcd/main --abort", (*world).unfinishedRestart, 2, "cannot undo a scale"},
		{"scale", "etcd/main --replicas 5", (*world).unfinishedRestart, 2, "kubectl etcd restart has been unfinished"},
		{"member replace", "etcd/main main-1 --abort", replacement, 0, "undo replacing main-1 of Etcd team/main"},
		{"member replace", "etcd/main main-1", replacement, 2, "undo it with kubectl etcd member replace etcd/main main-1 --abort -n team"},
		{"member replace", "etcd/main main-2 --force", replacement, 2, "undo it with kubectl etcd member replace etcd/main main-1 --abort -n team"},
		{"defrag", "etcd/main", replacement, 2, "undo it with kubectl etcd member replace etcd/main main-1 --abort -n team"},
	} {
		t.Run(row.path+" "+row.args, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, verb{})
			w.druid()
			row.set(w)
			code := w.run(t.Context(), verb{path: row.path, args: row.args}, "--dry-run=client")
			if code != row.code || !strings.Contains(withoutGiven(w.err.String()), row.text) {
				t.Errorf("exit code %d, want %d with %q:\n%s", code, row.code, row.text, &w.err)
			}
		})
	}
}

// givenFlags are those of each run, which every printed command repeats.
var givenFlags = regexp.MustCompile(` --kubeconfig \S+ --server \S+`)

func withoutGiven(text string) string { return givenFlags.ReplaceAllString(text, "") }
