// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// service puts a client Service beside main.
func (w *world) service(name string, selector apitest.Object) {
	w.Create(apitest.Object{
		"apiVersion": "v1", "kind": "Service", "metadata": apitest.Object{"namespace": "team", "name": name},
		"spec": apitest.Object{"selector": selector, "clusterIP": "10.0.0.2", "ports": []any{apitest.Object{"port": 2379, "targetPort": 2379}}},
	})
}

// cutUntil has the selector of main end the cut at another time.
func (w *world) cutUntil(end string) {
	operatetest.Field(w.Get(operatetest.Path("Service", "main")), "spec", "selector")["kubectl-etcd.dev/client-traffic"] = "cut-until-" + end
}

// scheduled makes a schedule by the command itself.
func (w *world) scheduled(keep string) {
	w.run(context.Background(), verb{path: "snapshot schedule", args: "statefulset/main --to s3://backups/team --image plugin:dev --keep " + keep}, "-y", "--wait=false")
	w.out.Reset()
	w.err.Reset()
}

// reschedule has another client change an annotation of the schedule's CronJob, and its command with it.
func (w *world) reschedule(annotation, value string) {
	job := w.Get(operatetest.Path("CronJob", "etcd-backup-main"))
	operatetest.Field(job, "metadata", "annotations")["kubectl-etcd.dev/"+annotation] = value
}

// onDelete leaves it to users when pods get a new template.
func (w *world) onDelete() {
	operatetest.Field(w.Get(operatetest.Path("StatefulSet", "main")), "spec")["updateStrategy"] = apitest.Object{"type": "OnDelete"}
}

// template has another client write a pod template, which the pods get with their restart.
func (w *world) template() {
	operatetest.Field(w.Get(operatetest.Path("StatefulSet", "main")), "status")["updateRevision"] = "main-b"
}

// TestShownFacts: what a user is shown before the question is what the verb acts on under the lock. Each row changes
// one thing that the plan shows and that its rules allow in both states.
func TestShownFacts(t *testing.T) {
	t.Parallel()
	const schedule = "statefulset/main --to s3://backups/team --image plugin:dev --keep 7"
	keeps30 := func(w *world) { w.scheduled("30") }
	keeps60 := func(w *world) { w.reschedule("snapshot-keep", "60") }
	for _, row := range []struct {
		name   string
		of     verb
		change func(*world)
	}{
		{"another Service is cut", verb{path: "restore-client-traffic", args: "statefulset/main", set: func(w *world) {
			w.cut()
			w.service("other", apitest.Object{"app": "main"})
		}}, func(w *world) {
			operatetest.Field(w.Get(operatetest.Path("Service", "other")), "spec", "selector")["kubectl-etcd.dev/client-traffic"] = "cut-until-4000000000"
		}},
		{"another cut", verb{path: "restore-client-traffic", args: "statefulset/main", set: (*world).cut}, func(w *world) { w.cutUntil("4000000001") }},
		{"another Service that is not cut", verb{path: "cut-client-traffic", args: "statefulset/main --service main --for 15m --reason test --detach"},
			func(w *world) { w.service("other", apitest.Object{"app": "main"}) }},
		{"another restore has ended", verb{path: "scale", args: "statefulset/main --abort", set: func(w *world) { w.awaitsScale(5) }}, func(w *world) { w.awaitsScale(7) }},
		{"more snapshots are kept", verb{path: "snapshot schedule", args: schedule, set: keeps30}, keeps60},
		{"more snapshots are kept by a schedule that is deleted", verb{path: "snapshot schedule", args: "statefulset/main --delete", set: keeps30}, keeps60},
		{"another store of a schedule that is suspended", verb{path: "snapshot schedule", args: "statefulset/main --suspend", set: keeps30}, func(w *world) { w.reschedule("snapshot-url", "s3://backups/other") }},
		{"another pod template", verb{path: "restart", args: "statefulset/main", set: (*world).onDelete}, (*world).template},
		{"fewer voters", verb{path: "member add", args: "statefulset/main --peer-urls http://new.example.com:2380"}, func(w *world) { w.Etcd.Members = w.Etcd.Members[:2] }},
		{"client traffic is cut", verb{path: "snapshot restore", args: "SNAPSHOT statefulset/main --tool ETCDUTL"}, func(w *world) { w.cutUntil(strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10)) }},
	} {
		newFacts(t, row.name, row.of, row.change, planChanged)
	}
}
