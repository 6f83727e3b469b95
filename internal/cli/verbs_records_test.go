// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// cutRecord is the record of a cut, on the lease of the cluster's lock.
func cutRecord(w *world) bool {
	lease := w.Get(operatetest.Path("Lease", "kubectl-etcd-statefulset-main"))
	return operatetest.Field(lease, "metadata", "annotations")["kubectl-etcd.dev/client-traffic"] != nil
}

// cutEnded puts the record of a cut that has ended.
func (w *world) cutEnded() {
	w.Create(apitest.Object{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": apitest.Object{
		"namespace": "team", "name": "kubectl-etcd-statefulset-main",
		"annotations": apitest.Object{"kubectl-etcd.dev/client-traffic": `{"services":["main"],"until":"2026-01-01T00:00:00Z","holder":"cat@desk","reason":"a trial"}`},
	}, "spec": apitest.Object{}})
}

// TestOnlyRecordLeft: where only the record of an earlier command is left, its removal is a change as any other: it has a plan,
// a question, a lock and an Event.
func TestOnlyRecordLeft(t *testing.T) {
	t.Parallel()
	for _, v := range []struct {
		verb
		left              func(*world) bool
		step, done, event string
	}{
		{
			verb{path: "scale", args: "statefulset/main --replicas 3", set: func(w *world) { w.awaitsScale(3) }},
			func(w *world) bool { return w.Get(operatetest.Path("ConfigMap", "kubectl-etcd-main")) != nil },
			"1. remove the record of the restore, which alone has that number", "statefulset/main: left with the members that it has", "Scaled",
		},
		{
			verb{path: "restore-client-traffic", args: "statefulset/main", set: (*world).cutEnded},
			cutRecord, "the last cut was by cat@desk: a trial", "The record of the cut is removed", "ClientTrafficRestored",
		},
	} {
		for _, row := range []struct {
			flags, want string
			held        bool
			code        int
		}{
			{flags: "--dry-run=client", want: "Nothing was changed (--dry-run=client)."},
			{flags: "--dry-run=server", want: "Nothing was changed (--dry-run=server)."},
			{flags: "", want: "there is no terminal to ask for confirmation", code: 2},
			{flags: "-y", held: true, want: "is locked by cat@desk", code: 2},
			{flags: "-y", want: v.done},
		} {
			t.Run(v.path+" "+row.want, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, v.verb)
				if row.held {
					w.held()
				}
				code := w.run(t.Context(), v.verb, strings.Fields(row.flags)...)
				if code != row.code {
					t.Errorf("exit code %d, want %d", code, row.code)
				}
				wants(t, w.err.String()+w.out.String(), v.step, row.want)
				if done := row.want == v.done; v.left(w) == done || (w.events() == v.event) != done {
					t.Errorf("the record is left: %t, Events: %s", v.left(w), w.events())
				}
				if t.Failed() {
					t.Logf("stdout:\n%s\nstderr:\n%s", &w.out, &w.err)
				}
			})
		}
	}
}
