// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// begun are arguments and flags that a command may have begun with, by its path.
var begun = map[string][]string{
	"member replace":   {"main-2 --force"},
	"recover":          {"statefulset/main --lost main-1,main-2 --save-to main.db --keep-old-for 1h --bump-revision 5"},
	"restart":          {"statefulset/main --member main-1", "statefulset/main --strategy coordinated --without-cut"},
	"scale":            {"statefulset/main --replicas 5 --keep-pvc"},
	"snapshot restore": {"main.db statefulset/main --allow-unsaved --from-other-cluster --keep-old-for 1h", "s3://backups/main.db statefulset/main", "- statefulset/main"},
}

// TestAbortBesideArguments: --abort may be added to the command that began an operation, as it stands: that
// is what its end advises. It reads no snapshot.
func TestAbortBesideArguments(t *testing.T) {
	t.Parallel()
	root := newRootCmd(app.New(genericiooptions.NewTestIOStreamsDiscard()))
	for _, v := range verbs {
		c, _, err := root.Find(strings.Fields(v.path))
		if err != nil {
			t.Fatal(err)
		}
		if c.Flags().Lookup("abort") != nil && len(begun[v.path]) == 0 {
			t.Errorf("the table lacks %s", v.path)
		}
	}
	for path, all := range begun {
		for _, args := range all {
			t.Run(path+" "+args, func(t *testing.T) {
				t.Parallel()
				v := verb{path: path, args: args}
				w := newWorld(t, v)
				if code := w.run(t.Context(), v, "-y", "--abort"); code != 0 || !strings.Contains(w.err.String(), "there is nothing to ") {
					t.Errorf("exit code %d:\n%s", code, &w.err)
				}
			})
		}
	}
}

// TestAbortOfInterrupted: the command that an interrupted one advises undoes it.
func TestAbortOfInterrupted(t *testing.T) {
	t.Parallel()
	for _, v := range verbs {
		if e := ends[v.name()]; strings.Contains(e.next, "add --abort") {
			t.Run(v.name(), func(t *testing.T) {
				t.Parallel()
				w, code := notDone(t, v, e, true, time.Minute)
				if code != 130 || w.Get(operatetest.Path("ConfigMap", "kubectl-etcd-main")) == nil {
					t.Fatalf("exit code %d, no journal:\n%s", code, &w.err)
				}
				w.controllers.idle.Store(false)
				w.Etcd.Lag(false)
				if code := w.run(t.Context(), v, "-y", "--abort"); code != 0 || w.Get(operatetest.Path("ConfigMap", "kubectl-etcd-main")) != nil {
					t.Errorf("exit code %d, or a journal:\n%s", code, &w.err)
				}
			})
		}
	}
}

// TestResumeBeside: --resume may be added to the command that began a restore, as it stands. It begins none, and continues
// one.
func TestResumeBeside(t *testing.T) {
	t.Parallel()
	for _, v := range []verb{recovers, restores} {
		w := newWorld(t, recovers)
		before := w.state()
		if code := w.run(t.Context(), v, "-y", "--resume"); code != 0 || !strings.Contains(w.err.String(), "No restore into StatefulSet team/main is unfinished: there is nothing to continue.") || w.state() != before {
			t.Errorf("%s: exit code %d:\n%s", v.path, code, &w.err)
		}
		w.err.Reset()
		w.fallen()
		w.unfinishedRecovery(3)
		if code := w.run(t.Context(), v, "--dry-run=client", "--resume"); code != 0 || !strings.Contains(w.err.String(), "continue the restore into StatefulSet team/main") {
			t.Errorf("%s: exit code %d:\n%s", v.path, code, &w.err)
		}
	}
	w := newWorld(t, restores)
	if code := w.run(t.Context(), verb{path: "snapshot restore", args: "statefulset/main"}, "--resume"); code != 1 || !strings.Contains(w.err.String(), "--resume needs the snapshot that the restore began with, as FILE") {
		t.Errorf("without FILE: exit code %d:\n%s", code, &w.err)
	}
}
