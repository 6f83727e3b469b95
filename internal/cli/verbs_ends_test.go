// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// end is how a verb ends.
type end struct {
	// out is on stdout when the change is done, and shown on stderr.
	out, shown string
	// event is the reason of the Event. It is empty for a verb that is not about one cluster.
	event string
	// again is what the same command reports when the change is done. It is empty if the verb
	// makes the change again.
	again string
	code  int
	// stuck has the change not end until the controllers work again. It calls reached when
	// something was written.
	stuck func(w *world, reached func())
	// title begins the message of a change that did not end, and next ends it.
	title, next string
	// onCluster is the test of a real cluster that has the ends, for a change that runs commands in pods.
	// Then the others are empty.
	onCluster string
	// once is true if the same command after an interruption is not the way to go on.
	once bool
	// resumed is what the same command reports after an interruption, if the controllers have
	// completed the change meanwhile.
	resumed string
}

// hang has etcd and the sidecars answer no call that changes something.
func hang(w *world, reached func()) { w.controllers.hang, w.controllers.seen = true, reached }

// idle stops the controllers. at reports whether something was written that they must carry out.
func idle(at func(w *world) bool) func(*world, func()) {
	return func(w *world, reached func()) {
		w.controllers.seen = func() {
			if at(w) {
				reached()
			}
		}
	}
}

func podGone(w *world) bool { return w.Get(operatetest.Path("Pod", "main-2")) == nil }

func isCut(w *world) bool {
	return operatetest.Field(w.Get(operatetest.Path("Service", "main")), "spec", "selector")["kubectl-etcd.dev/client-traffic"] != nil
}

// behind has the learners never catch up.
func behind(w *world, reached func()) {
	w.Etcd.Lag(true)
	idle(func(w *world) bool { return w.Etcd.Learner() })(w, reached)
	w.controllers.lag = true
}

const (
	sameCommand  = "run the same command again to continue"
	abortChange  = sameCommand + ", or add --abort to undo the change (journal: ConfigMap kubectl-etcd-main)"
	abortRestore = sameCommand + ", or add --abort to start the members on their old data again (journal: ConfigMap kubectl-etcd-main)"
)

// ends has the ends of each verb by name.
var ends = map[string]end{
	"alarm disarm statefulset main": {
		out: "alarm NOSPACE of main-1 is disarmed.", event: "AlarmDisarmed", again: "No alarm is raised in StatefulSet team/main.",
		stuck: hang, title: "disarm the alarms of StatefulSet team/main", next: sameCommand,
	},
	"cut-client-traffic statefulset main": {
		shown: "No endpoint of Service main is ready", event: "ClientTrafficCut",
		stuck: idle(isCut), title: "cut client traffic of StatefulSet team/main for 15m, until ", next: "kubectl etcd restore-client-traffic statefulset/main -n team",
	},
	"defrag statefulset main": {
		out: "StatefulSet team/main is defragmented.", event: "Defragmented",
		stuck: hang, title: "defragment StatefulSet team/main", next: sameCommand,
	},
	"drain-plan node-1": {
		out: "node/node-1 drained", event: "MembersDrained",
		stuck: idle(func(w *world) bool { return w.Get(operatetest.Path("Pod", "main-1")) == nil }), title: "drain nodes node-1 and node-2",
		next: "these nodes stay cordoned, and kubectl uncordon node-1 node-2",
	},
	"member add statefulset main": {
		out: "statefulset/main: added a learner at http://new.example.com:2380", event: "MemberAdded", again: "cannot add a member at http://new.example.com:2380", code: 2,
		stuck: hang, title: "add a learner at http://new.example.com:2380", next: "kubectl etcd member list statefulset/main -n team shows whether it was added",
	},
	"member promote statefulset main": {
		out: "statefulset/main: promoted member main-2", event: "MemberPromoted", again: "is already a voter",
		stuck: hang, title: "promote member main-2", next: sameCommand,
	},
	"member remove statefulset main": {
		out: "statefulset/main: removed member main-2", event: "MemberRemoved", again: `etcd has no member "main-2"`, code: 1,
		stuck: hang, title: "remove main-2", next: "kubectl etcd member list statefulset/main -n team shows whether it was removed",
	},
	"member replace statefulset main": {
		out: "statefulset/main replaced the member of main-2", event: "MemberReplaced",
		stuck: behind, title: "replace the member of main-2 with an empty one", next: abortChange,
	},
	"member replace etcd main": {
		out: "etcd/main replaced the member of main-2", event: "MemberReplaced",
		stuck: idle(podGone), title: "replace the member of main-2 with an empty one",
		next: "the sidecar of main-2 continues. kubectl etcd status etcd/main -n team shows whether the new member votes", once: true,
	},
	"move-leader statefulset main": {
		out: "is now the leader of StatefulSet team/main, instead of", event: "LeaderMoved",
		stuck: hang, title: "move the leadership of StatefulSet team/main from main-0 to main-1", next: "kubectl etcd status statefulset/main -n team shows which member leads now",
	},
	"recover statefulset main": {onCluster: "TestPluginRecover"},
	"restart statefulset main": {
		out: "statefulset/main: restarted main-0, main-1, main-2", event: "Restarted",
		stuck: idle(podGone), title: "restart the members of StatefulSet team/main, one at a time",
		next: sameCommand + ", or add --abort to restart no further member (journal: ConfigMap kubectl-etcd-main)",
	},
	"restore-client-traffic statefulset main": {
		shown: "Client traffic through Service main is restored", event: "ClientTrafficRestored", again: "Client traffic of StatefulSet team/main is not cut",
		stuck: idle(func(w *world) bool { return !isCut(w) && w.events() != "" }), title: "restore client traffic of StatefulSet team/main",
		next: "client traffic is not cut any more. kubectl etcd check statefulset/main -n team shows why no endpoint is ready", once: true,
	},
	"scale statefulset main": {
		out: "statefulset/main scaled to 5 members", event: "Scaled", again: "StatefulSet team/main already has 5 members.",
		stuck: behind, title: "scale StatefulSet team/main from 3 to 5 members", next: abortChange,
	},
	"scale etcd main": {
		out: "etcd/main scaled to 5 members", event: "Scaled", again: "Etcd team/main already has 5 members.",
		stuck: idle(func(w *world) bool {
			return operatetest.Field(w.Get(operatetest.Path("Etcd", "main")), "metadata", "annotations") != nil
		}), title: "scale Etcd team/main from 3 to 5 members", next: "etcd-druid continues. Run the same command again to wait for it",
		resumed: "Etcd team/main already has 5 members.",
	},
	"snapshot restore statefulset main": {onCluster: "TestPluginRestoreInPlaceKilled"},
	"snapshot save etcd main": {
		out: "Full-0-1000", event: "SnapshotTaken",
		stuck: hang, title: "take a full snapshot with backup-restore of Etcd team/main", next: "it may still be written: kubectl etcd snapshot list etcd/main -n team",
	},
	"snapshot schedule statefulset main": {
		out: "statefulset/main: scheduled a snapshot every 1h to s3://backups/team", event: "SnapshotScheduleSet", again: "StatefulSet team/main already has this schedule",
		stuck: idle(func(w *world) bool { return w.firstSnapshot() != nil }), title: "save a snapshot of StatefulSet team/main every 1h to s3://backups/team",
		next: "the first snapshot may still be stored: kubectl etcd snapshot list statefulset/main -n team", resumed: "The first snapshot is stored",
	},
	"sweep --remove": {
		out: "What was left over is removed.", again: "Nothing is left behind that can be removed.",
		stuck: idle(func(w *world) bool { return w.controllers.deletions > 0 }), title: "remove what is left over",
		next: "completed steps stay. Run the same command again to continue",
	},
	"volume grow statefulset main": {
		out: "statefulset/main: grew the volumes of", event: "VolumesGrown", again: "Every volume of StatefulSet team/main has 20Gi already.",
		stuck: idle(func(w *world) bool { return w.requested("data-main-2") == "20Gi" }), title: "grow the volumes of StatefulSet team/main to 20Gi, one member at a time",
		next: sameCommand,
	},
	"webhook uninstall ": {
		out: "etcd-webhook is uninstalled.", again: "etcd-webhook is not installed",
		stuck: idle(func(w *world) bool { return w.controllers.deletions > 2 }), title: "uninstall etcd-webhook", next: "completed steps stay. Run the command again to continue",
	},
}

// events returns the reasons of the Events.
func (w *world) events() string {
	var reasons []string
	for _, path := range w.Paths() {
		if o := w.Get(path); strings.HasPrefix(path, "/apis/events.k8s.io/") {
			reason, _ := o["reason"].(string)
			reasons = append(reasons, reason)
		}
	}
	return strings.Join(reasons, ", ")
}

// holder returns who holds the lock of the cluster.
func (w *world) holder() any {
	for _, name := range []string{"kubectl-etcd-statefulset-main", "kubectl-etcd-etcd-main"} {
		if holder := operatetest.Field(w.Get(operatetest.Path("Lease", name)), "spec")["holderIdentity"]; holder != nil {
			return holder
		}
	}
	return nil
}

// wants checks that a text has parts.
func wants(t *testing.T, text string, parts ...string) {
	t.Helper()
	text = withoutGiven(text)
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("it lacks %q:\n%s", part, text)
		}
	}
}

// done runs a verb to its end.
func (w *world) done(t *testing.T, v verb, e end) {
	t.Helper()
	w.out.Reset()
	w.err.Reset()
	if code := w.run(t.Context(), v, "-y"); code != 0 {
		t.Errorf("exit code %d", code)
	}
	wants(t, w.out.String(), e.out)
	wants(t, w.err.String(), e.shown)
	wants(t, w.events(), e.event)
	if holder := w.holder(); holder != nil {
		t.Errorf("%v holds the lock", holder)
	}
}

// TestEnds: a change that is done is reported, is recorded as an Event, and leaves nothing to do.
func TestEnds(t *testing.T) {
	t.Parallel()
	for _, v := range verbs {
		t.Run(v.name(), func(t *testing.T) {
			t.Parallel()
			e, ok := ends[v.name()]
			if !ok {
				t.Fatal("the table ends lacks it")
			}
			if e.onCluster != "" {
				isTest(t, e.onCluster)
				return
			}
			if e.title == "" || e.title != strings.ToLower(e.title[:1])+e.title[1:] {
				t.Errorf("the title of the plan is %q: it begins with a small letter, because errors have it after a colon", e.title)
			}
			w := newWorld(t, v)
			w.startControllers(t)
			w.done(t, v, e)
			if t.Failed() {
				t.Fatalf("stdout:\n%s\nstderr:\n%s", &w.out, &w.err)
			}
			if e.again == "" {
				w.done(t, v, e)
			} else {
				w.out.Reset()
				w.err.Reset()
				writes := w.objects()
				if code := w.run(t.Context(), v, "-y"); code != e.code {
					t.Errorf("exit code %d at the second run, want %d", code, e.code)
				}
				wants(t, w.err.String(), e.again)
				if w.objects() != writes {
					t.Errorf("the second run wrote:\n%s\nbefore:\n%s", w.objects(), writes)
				}
			}
			if t.Failed() {
				t.Logf("stdout:\n%s\nstderr:\n%s", &w.out, &w.err)
			}
		})
	}
}

// TestScaleDetached: a command that doesn't wait does not report that etcd-druid has scaled.
func TestScaleDetached(t *testing.T) {
	t.Parallel()
	v := verb{path: "scale", args: "etcd/main --replicas 5 --wait=false", set: (*world).druid}
	w := newWorld(t, v)
	if code := w.run(t.Context(), v, "-y"); code != 0 || w.out.String() != "etcd/main: scale to 5 members requested\n" {
		t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s", code, &w.out, &w.err)
	}
}

// isTest checks that the tests of real clusters have a test.
func isTest(t *testing.T, name string) {
	t.Helper()
	files, err := filepath.Glob("../../test/e2e/*_test.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests of clusters: %v", err)
	}
	for _, file := range files {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "func "+name+"(t *testing.T)") {
			return
		}
	}
	t.Errorf("test/e2e has no %s", name)
}

// notDone runs a verb that gets stuck, until its time is over or it is interrupted. On a machine
// that is too slow to begin the change in time it tries again with a longer limit.
func notDone(t *testing.T, v verb, e end, interrupt bool, limit time.Duration) (*world, int) {
	t.Helper()
	w := newWorld(t, v)
	w.startControllers(t)
	w.reconcile(t)
	ctx, interrupted := context.WithCancel(t.Context())
	defer interrupted()
	reached, flags := interrupted, []string{"-y"}
	if !interrupt {
		reached, flags = func() {}, []string{"-y", "--timeout", limit.String()}
	}
	if e.stuck == nil {
		t.Fatalf("the row of %s in ends has no stuck: add what keeps it from its end", v.name())
	}
	e.stuck(w, reached)
	w.controllers.idle.Store(true)
	code := w.run(ctx, v, flags...)
	if !interrupt && limit < time.Minute && strings.Contains(w.err.String(), "nothing was changed") {
		return notDone(t, v, e, interrupt, 2*limit)
	}
	return w, code
}

// TestNotDone: a change whose time is over, or that is interrupted, ends with the same form of
// message in every verb, and releases the lock. The same command completes it afterwards.
func TestNotDone(t *testing.T) {
	t.Parallel()
	for _, why := range []struct {
		name, begin, middle string
		interrupt           bool
		code                int
	}{
		{name: "timed out", begin: "timed out: ", middle: ": not done within the --timeout of ", code: 124},
		{name: "interrupted", begin: "interrupted: ", middle: ": context canceled; ", interrupt: true, code: 130},
	} {
		for _, v := range verbs {
			if ends[v.name()].onCluster != "" {
				continue
			}
			t.Run(why.name+"/"+v.name(), func(t *testing.T) {
				t.Parallel()
				e := ends[v.name()]
				w, code := notDone(t, v, e, why.interrupt, 2*time.Second)
				if code != why.code {
					t.Errorf("exit code %d, want %d", code, why.code)
				}
				last := w.err.String()[max(strings.LastIndex(w.err.String(), why.begin), 0):]
				next := e.next
				if why.middle != "" && w.controllers.lag && !why.interrupt {
					next = "the change was rolled back, and the cluster has "
				}
				wants(t, last, why.begin+e.title, why.middle, next)
				if holder := w.holder(); holder != nil {
					t.Errorf("%v holds the lock", holder)
				}
				if t.Failed() {
					t.Fatalf("stdout:\n%s\nstderr:\n%s", &w.out, &w.err)
				}
				w.controllers.idle.Store(false)
				w.Etcd.Lag(false)
				if e.resumed != "" {
					e.out, e.shown = "", e.resumed
				}
				if !e.once {
					w.done(t, v, e)
				}
				if t.Failed() {
					t.Logf("before: %s\nstdout:\n%s\nstderr:\n%s", last, &w.out, &w.err)
				}
			})
		}
	}
}

// TestProgramFails: a program of another author that fails ends the change as an error, whatever its exit code means among
// those of this one, and the message has how to go on.
func TestProgramFails(t *testing.T) {
	t.Parallel()
	restore := verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL"}
	for _, row := range []struct{ exits, want, next string }{
		{"[ $1 = version ] || exit 7", "exit status 7", abortRestore},
		{"[ $1 = version ] || exit 2", "exit status 2", abortRestore},
		{"[ $1 = version ] || exit 3", "exit status 3", abortRestore},
		{"[ $1 = version ] || exit 124", "exit status 124", abortRestore},
		{"exit 7", "ETCDUTL version: exit status 7", ""},
	} {
		t.Run(row.exits, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, restore)
			w.startControllers(t)
			w.tool(t, row.exits)
			if code := w.run(t.Context(), restore, "-y"); code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			last := w.err.String()[max(strings.LastIndex(w.err.String(), "\nerror: "), 0):]
			wants(t, last, "error: ", row.want, row.next)
			if t.Failed() {
				t.Logf("stdout:\n%s\nstderr:\n%s", &w.out, &w.err)
			}
		})
	}
}

// TestChangeFlags: the flags of all verbs have one text, and every change ends by itself.
func TestChangeFlags(t *testing.T) {
	t.Parallel()
	root := newRootCmd(app.New(genericiooptions.NewTestIOStreamsDiscard()))
	first := map[string]string{}
	for _, v := range verbs {
		c, _, err := root.Find(strings.Fields(v.path))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"wait", "timeout", "dry-run", "yes", "reason"} {
			f := c.Flags().Lookup(name)
			if f == nil {
				t.Errorf("%s has no --%s", v.path, name)
				continue
			}
			text := f.Shorthand + " " + f.Usage
			if name != "timeout" { // whose default differs
				text += " " + f.DefValue
			}
			if was, ok := first[name]; ok && was != text {
				t.Errorf("%s: --%s is %q, of others %q", v.path, name, text, was)
			}
			first[name] = text
		}
		if limit := c.Flags().Lookup("timeout"); limit != nil && (limit.DefValue == "0s" || limit.DefValue == "0") {
			t.Errorf("%s has no time limit by default", v.path)
		}
	}
}
