// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdtest"
)

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
	{path: "member add", args: "statefulset/main --peer-urls http://new.example.com:2380"},
	{path: "member promote", args: "statefulset/main main-2", set: (*world).learner},
	{path: "member remove", args: "statefulset/main main-2", set: (*world).learner},
	{path: "member replace", args: "statefulset/main main-2 --force"},
	{path: "move-leader", args: "statefulset/main"},
	{path: "restore-client-traffic", args: "statefulset/main", set: (*world).cut, detaches: true, besides: true},
	{path: "scale", args: "statefulset/main --replicas 5"},
	{path: "snapshot save", args: "etcd/main --via backup-restore", set: (*world).druid, besides: true},
	{path: "webhook uninstall", set: (*world).install, detaches: true, lockless: true, besides: true},
}

func raiseNoSpace(w *world) {
	w.etcd.Alarms = []*pb.AlarmMember{{MemberID: 2, Alarm: pb.AlarmType_NOSPACE}}
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
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the table has %q, the commands that change something are %q", got, want)
	}
}

// world is an API server and an etcd cluster in memory.
type world struct {
	*apitest.Server

	etcd     *etcdtest.Cluster
	out, err bytes.Buffer
	config   string
}

func newWorld(t *testing.T, v verb) *world {
	t.Helper()
	w := &world{Server: apitest.New(t), etcd: etcdtest.New(t, "main-0", "main-1", "main-2"), config: filepath.Join(t.TempDir(), "config")}
	w.Dial = w.etcd.Dial
	if err := os.WriteFile(w.config, []byte("apiVersion: v1\nkind: Config\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/cluster.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, document := range strings.Split(string(text), "\n---\n") {
		var o apitest.Object
		if err := yaml.Unmarshal([]byte(document), &o); err != nil {
			t.Fatal(err)
		}
		w.put(o)
	}
	w.pods()
	if v.set != nil {
		v.set(w)
	}
	return w
}

// paths has the path of each kind, before the name.
var paths = map[string]string{
	"StatefulSet": "/apis/apps/v1/namespaces/team/statefulsets/", "Deployment": "/apis/apps/v1/namespaces/etcd-webhook/deployments/",
	"Service": "/api/v1/namespaces/team/services/", "Pod": "/api/v1/namespaces/team/pods/", "Node": "/api/v1/nodes/",
	"PersistentVolumeClaim": "/api/v1/namespaces/team/persistentvolumeclaims/",
	"Etcd":                  "/apis/druid.gardener.cloud/v1alpha1/namespaces/team/etcds/",
	"ConfigMap":             "/api/v1/namespaces/team/configmaps/",
	"Lease":                 "/apis/coordination.k8s.io/v1/namespaces/team/leases/",
}

func (w *world) at(kind, name string) string { return paths[kind] + name }

func (w *world) put(o apitest.Object) {
	kind, _ := o["kind"].(string)
	meta, _ := o["metadata"].(apitest.Object)
	name, _ := meta["name"].(string)
	w.Put(w.at(kind, name), o)
}

// pods puts the members' pods, each with its node and its claim.
func (w *world) pods() {
	sts := w.Get(w.at("StatefulSet", "main"))
	spec, _ := sts["spec"].(apitest.Object)
	template, _ := spec["template"].(apitest.Object)
	for i := range 3 {
		name := fmt.Sprintf("main-%d", i)
		text, _ := yaml.Marshal(template["spec"])
		pod := apitest.Object{}
		_ = yaml.Unmarshal(text, &pod) // as it was written
		pod["nodeName"] = fmt.Sprintf("node-%d", i)
		pod["volumes"] = []any{apitest.Object{"name": "data", "persistentVolumeClaim": apitest.Object{"claimName": "data-" + name}}}
		running := apitest.Object{"name": "etcd", "ready": true, "started": true, "state": apitest.Object{"running": apitest.Object{"startedAt": "2026-01-01T00:00:00Z"}}}
		w.put(apitest.Object{"apiVersion": "v1", "kind": "Pod", "spec": pod, "metadata": apitest.Object{
			"namespace": "team", "name": name, "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z",
			"labels":          apitest.Object{"app": "main", "controller-revision-hash": "main-a", "statefulset.kubernetes.io/pod-name": name},
			"ownerReferences": []any{apitest.Object{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "main", "uid": "sts", "controller": true}},
		}, "status": apitest.Object{
			"phase": "Running", "podIP": fmt.Sprintf("10.1.0.%d", i+1), "containerStatuses": []any{running},
			"conditions": []any{apitest.Object{"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}},
		}})
		w.put(apitest.Object{"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": apitest.Object{"namespace": "team", "name": "data-" + name}, "spec": apitest.Object{"volumeName": name}})
	}
	for i := range 5 {
		name := fmt.Sprintf("node-%d", i)
		w.put(apitest.Object{"apiVersion": "v1", "kind": "Node", "metadata": apitest.Object{"name": name, "labels": apitest.Object{"kubernetes.io/hostname": name}}})
	}
}

// learner makes the last member a learner.
func (w *world) learner() { w.etcd.Members[2].IsLearner = true }

// cut cuts client traffic.
func (w *world) cut() {
	service := w.Get(w.at("Service", "main"))
	spec, _ := service["spec"].(apitest.Object)
	spec["selector"] = apitest.Object{"app": "main", "kubectl-etcd.dev/client-traffic": "cut-until-4000000000"}
}

// druid has an Etcd control the StatefulSet.
func (w *world) druid() {
	w.put(apitest.Object{
		"apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd", "metadata": apitest.Object{"namespace": "team", "name": "main", "uid": "etcd"},
		"spec": apitest.Object{"replicas": 3, "backup": apitest.Object{"store": apitest.Object{"provider": "Local", "container": "backups", "prefix": "main"}}},
	})
	meta, _ := w.Get(w.at("StatefulSet", "main"))["metadata"].(apitest.Object)
	meta["ownerReferences"] = []any{apitest.Object{"apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd", "name": "main", "uid": "etcd", "controller": true}}
}

// install leaves nothing but an installed etcd-webhook.
func (w *world) install() {
	for _, path := range w.Paths() {
		w.Remove(path)
	}
	w.put(apitest.Object{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": apitest.Object{
		"namespace": "etcd-webhook", "name": "etcd-webhook", "labels": apitest.Object{"app.kubernetes.io/name": "etcd-webhook"},
	}, "spec": apitest.Object{"replicas": 2}})
}

// held puts a lock of another holder, who renews it before each read.
func (w *world) held() {
	names := []string{"kubectl-etcd-statefulset-main", "kubectl-etcd-etcd-main"}
	renew := func() {
		for _, name := range names {
			w.put(apitest.Object{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": apitest.Object{
				"namespace": "team", "name": name, "annotations": apitest.Object{"kubectl-etcd.dev/operation": "scale"},
			}, "spec": apitest.Object{"holderIdentity": "cat@desk", "leaseDurationSeconds": 15, "renewTime": time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")}})
		}
	}
	renew()
	w.Refuse = func(_, path string) int {
		if strings.HasPrefix(path, paths["Lease"]) {
			renew()
		}
		return 0
	}
}

// unfinished puts the journal of a change of members that has not ended.
func (w *world) unfinished() {
	w.put(apitest.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": "kubectl-etcd-main"},
		"data": apitest.Object{"journal.json": `{"kind":"scale","began":"2026-01-01T00:00:00Z","object":"sts","payload":{"Operation":"ScaleOut","Target":4,"Replicas":3}}`},
	})
}

// state is all that the cluster has: each object with its version, and what etcd was asked to
// change.
func (w *world) state() string {
	var b strings.Builder
	for _, path := range w.Paths() {
		meta, _ := w.Get(path)["metadata"].(apitest.Object)
		fmt.Fprintln(&b, path, meta["resourceVersion"])
	}
	fmt.Fprintln(&b, w.etcd.Writes())
	return b.String()
}

// run runs a verb with more flags, without a terminal.
func (w *world) run(t *testing.T, v verb, flags ...string) (code int) {
	t.Helper()
	args := slices.Concat(strings.Fields(v.path), strings.Fields(v.args), flags)
	if !v.lockless {
		args = append(args, "-n", "team")
	}
	args = append(args, "--kubeconfig", w.config, "--server", w.Config().Host)
	return Run(t.Context(), args, genericiooptions.IOStreams{In: strings.NewReader(""), Out: &w.out, ErrOut: &w.err})
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
		{name: "no terminal", code: 2, text: []string{"there is no terminal to ask on"}},
		{name: "--wait=false", flags: "--wait=false -y", not: func(v verb) bool { return v.detaches }, code: 1, text: []string{"--wait=false is not possible here: this command does every step itself"}},
		{name: "--wait=false, detached", flags: "--wait=false --dry-run=client", not: func(v verb) bool { return !v.detaches }, text: []string{"Nothing was changed"}},
		{name: "a held lock", flags: "-y", set: (*world).held, not: func(v verb) bool { return v.lockless }, code: 2, text: []string{"is locked by cat@desk", "wait until that ends"}},
		{name: "an unfinished change", flags: "-y", set: (*world).unfinished, not: func(v verb) bool { return v.besides }, code: 2, text: []string{"under way", "--abort"}},
		{name: "no permission", flags: "-y", set: func(w *world) { w.Deny = func(string, string) bool { return true } }, code: 1, text: []string{`user "ann" has no permission for`, "nothing was changed. Missing:"}},
	} {
		for _, v := range verbs {
			if promise.not != nil && promise.not(v) {
				continue
			}
			t.Run(promise.name+"/"+v.path, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, v)
				if promise.set != nil {
					promise.set(w)
				}
				before := w.state()
				code := w.run(t, v, strings.Fields(promise.flags)...)
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
