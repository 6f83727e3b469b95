// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

var (
	setAt      = operatetest.Path("StatefulSet", "main")
	podAt      = operatetest.Path("Pod", "main-2")
	claimAt    = operatetest.Path("PersistentVolumeClaim", "data-main-2")
	settingsAt = operatetest.Path("ConfigMap", "settings")
)

// writing is a cluster on which one step is done, without its controllers.
type writing struct {
	*crashing

	m *Members
	s *observation
	j *Change
}

// newURL is the peer URL of a fourth member.
const newURL = "http://main-3.main-peer.team.svc:2380"

// stop stops members, and connects to the others.
func (w *writing) stop(t *testing.T, pods []string) {
	t.Helper()
	for _, pod := range pods {
		w.Etcd.Stop(pod)
	}
	_ = w.m.Close()
	w.m.cluster = nil
	if err := w.m.connect(t.Context()); err != nil {
		t.Error(err)
	}
}

// newWriting returns a healthy cluster, observed for a change to five members.
func newWriting(t *testing.T, prepare func(*writing)) *writing {
	t.Helper()
	w := &writing{crashing: newCrashing(t)}
	w.Refuse, w.Etcd.Fail = nil, nil
	var err error
	w.m = w.members(t)
	if w.j, _, err = w.m.PlanScale(t.Context(), 5, false); err != nil {
		t.Fatal(err)
	}
	if prepare != nil {
		prepare(w)
	}
	w.m.Owner = w.members(t).Owner
	if w.s, err = w.m.observe(t.Context(), w.j, 5); err != nil {
		t.Fatal(err)
	}
	return w
}

// edit changes an object as another client does.
func (w *writing) edit(at string, change func(o apitest.Object)) {
	o := runtime.DeepCopyJSON(normal(w.Get(at)))
	change(o)
	w.Put(at, o)
}

// normal returns an object as JSON has it.
func normal(o apitest.Object) apitest.Object {
	text, _ := json.Marshal(o) // it came as JSON or YAML
	var out apitest.Object
	_ = json.Unmarshal(text, &out)
	return out
}

// objects returns a copy of all objects.
func (w *writing) objects() map[string]apitest.Object {
	all := map[string]apitest.Object{}
	for _, at := range w.Paths() {
		all[at] = normal(w.Get(at))
	}
	return all
}

// changes returns the fields that differ, as "object field=value", and the objects that are gone.
func changes(before, after map[string]apitest.Object) []string {
	var all []string
	for _, at := range slices.Sorted(maps.Keys(before)) {
		name := at[strings.LastIndex(at, "/")+1:]
		if after[at] == nil {
			all = append(all, name+" deleted")
			continue
		}
		all = append(all, differences(name+" ", before[at], after[at])...)
	}
	for at := range after {
		if before[at] == nil {
			all = append(all, at+" created")
		}
	}
	return all
}

func differences(path string, before, after any) []string {
	b, wasObject := before.(apitest.Object)
	a, isObject := after.(apitest.Object)
	if (wasObject || before == nil) && (isObject || after == nil) && (wasObject || isObject) {
		return differentKeys(path, b, a)
	}
	x, wasList := before.([]any)
	y, isList := after.([]any)
	if wasList && isList && len(x) == len(y) {
		var all []string
		for i := range x {
			all = append(all, differences(fmt.Sprintf("%s[%d]", path, i), x[i], y[i])...)
		}
		return all
	}
	if reflect.DeepEqual(before, after) {
		return nil
	}
	text, _ := json.Marshal(after) // it came as JSON
	return []string{path + "=" + string(text)}
}

// differentKeys returns the differences of two objects, of which one may be nil.
func differentKeys(path string, before, after apitest.Object) (all []string) {
	keys := apitest.Object{}
	maps.Copy(keys, before)
	maps.Copy(keys, after)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if key != "resourceVersion" {
			all = append(all, differences(strings.TrimSuffix(path, " ")+separator(path)+key, before[key], after[key])...)
		}
	}
	return all
}

// separator separates an object's name from its first field by a space, and fields by dots.
func separator(path string) string {
	if strings.HasSuffix(path, " ") {
		return " "
	}
	return "."
}

func forbid(code int) func(method, path string) int {
	return func(method, _ string) int {
		if method != http.MethodGet && method != http.MethodPost { // a POST is a tunnel or a review here
			return code
		}
		return 0
	}
}

// writeRow is a function that writes one object, which another client may have changed meanwhile.
type writeRow struct {
	name string
	// before prepares the cluster and the change, before it is observed.
	before func(*writing)
	do     func(context.Context, *writing) error
	// want are the changes.
	want []string
	// at is the object that is written. Empty is etcd.
	at string
	// goneIsDone is true where the write of an object that is gone has nothing to do.
	goneIsDone bool
}

func act(step membership.Step) func(context.Context, *writing) error {
	return func(ctx context.Context, w *writing) error { return w.m.act(ctx, w.s, w.j, step) }
}

const (
	marked = `main metadata.annotations.kubectl-etcd.dev/member-change="MARK"`
	size5  = `main metadata.annotations.kubectl-etcd.dev/size="5 at 2026-02-01T00:00:00Z"`
	four   = "main-0=http://main-0.main-peer.team.svc:2380,main-1=http://main-1.main-peer.team.svc:2380,main-2=http://main-2.main-peer.team.svc:2380,main-3=http://main-3.main-peer.team.svc:2380"
)

// fourth has new pods join the three members as a fourth.
var fourth = membership.BootstrapFlags{Existing: true, URLs: []string{
	"http://main-0.main-peer.team.svc:2380", "http://main-1.main-peer.team.svc:2380", "http://main-2.main-peer.team.svc:2380", "http://main-3.main-peer.team.svc:2380",
}}

// fromConfigMap has the pods read the two settings from ConfigMap settings.
func fromConfigMap(w *writing) {
	w.Put(settingsAt, apitest.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": "settings"},
		"data": apitest.Object{"cluster": "main-0=http://main-0.main-peer.team.svc:2380", "state": "new", "other": "stays"},
	})
	w.edit(setAt, func(o apitest.Object) {
		c := operatetest.Field(o, "spec", "template", "spec")["containers"].([]any)[0].(apitest.Object) //nolint:forcetypeassert // as the file has it
		c["args"] = slices.DeleteFunc(c["args"].([]any), func(a any) bool {                             //nolint:forcetypeassert // as the file has it
			return strings.HasPrefix(a.(string), "--initial-cluster") //nolint:forcetypeassert // arguments are strings
		})
		for variable, key := range map[string]string{"ETCD_INITIAL_CLUSTER": "cluster", "ETCD_INITIAL_CLUSTER_STATE": "state"} {
			c["env"] = append(c["env"].([]any), apitest.Object{"name": variable, "valueFrom": apitest.Object{"configMapKeyRef": apitest.Object{"name": "settings", "key": key}}}) //nolint:forcetypeassert // as the file has it
		}
	})
}

// partitioned is a StatefulSet in the middle of an operation, with another label on a pod.
func partitioned(w *writing) {
	mark, _ := w.j.Found.mark() // strings
	w.edit(setAt, func(o apitest.Object) {
		operatetest.Field(o, "metadata")["annotations"] = apitest.Object{v1alpha1.MemberChangeAnnotation: mark}
		operatetest.Field(o, "spec", "updateStrategy", "rollingUpdate")["partition"] = 3.0
		args := operatetest.Field(o, "spec", "template", "spec")["containers"].([]any)[0].(apitest.Object)["args"].([]any) //nolint:forcetypeassert // as the file has it
		args[len(args)-1] = "--initial-cluster-state=existing"
	})
	w.edit(podAt, func(o apitest.Object) {
		operatetest.Field(o, "metadata", "labels")["controller-revision-hash"] = "main-old"
	})
}

// heldAt3 is a StatefulSet of which no pod was to restart before the operation. Since then, another client has written a
// template to restart all, and etcd-webhook holds that by the same partition.
func heldAt3(w *writing) {
	w.j.Found.Strategy.RollingUpdate = &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(3))}
	partitioned(w)
	w.edit(setAt, func(o apitest.Object) {
		annotations := operatetest.Field(o, "metadata", "annotations")
		annotations[v1alpha1.RolloutAuthorAnnotation] = `{"type":"RollingUpdate"}`
		annotations[v1alpha1.RolloutValueAnnotation] = "partition=3"
	})
}

var writeRows = []writeRow{
	{
		name: "W-1 partition", at: setAt, do: act(membership.Step{Act: membership.SetPartition, Number: 3}),
		want: []string{marked, "main spec.updateStrategy.rollingUpdate.partition=3"},
	},
	{
		name: "W-2 OnDelete", at: setAt, do: act(membership.Step{Act: membership.SetOnDelete}),
		want: []string{marked, "main spec.updateStrategy.rollingUpdate.partition=null", `main spec.updateStrategy.type="OnDelete"`},
	},
	{
		name: "W-3 replicas, with the size that they declare", at: setAt, do: act(membership.Step{Act: membership.SetReplicas, Number: 5}),
		want: []string{size5, "main spec.replicas=5"},
	},
	{
		name: "W-4 the strategy as it was", at: setAt, before: partitioned, do: act(membership.Step{Act: membership.RestoreStrategy}),
		want: []string{"main spec.updateStrategy.rollingUpdate.partition=0"},
	},
	{
		name: "W-5 a patch of a StatefulSet", at: setAt, want: []string{"main spec.minReadySeconds=7"},
		do: func(ctx context.Context, w *writing) error {
			return w.m.patch(ctx, w.s.sts, func(sts *appsv1.StatefulSet) { sts.Spec.MinReadySeconds = 7 })
		},
	},
	{
		name: "W-6 bootstrap flags in the template", at: setAt,
		do: func(ctx context.Context, w *writing) error {
			return w.m.patchTemplate(ctx, w.s, membership.Step{Act: membership.SetBootstrap, Bootstrap: fourth})
		},
		want: []string{
			marked, `main spec.template.spec.containers[0].args[7]="--initial-cluster=` + four + `"`,
			`main spec.template.spec.containers[0].args[8]="--initial-cluster-state=existing"`,
		},
	},
	{
		name: "W-7 the template as it was", at: setAt, before: partitioned,
		do: func(ctx context.Context, w *writing) error {
			return w.m.patchTemplate(ctx, w.s, membership.Step{Act: membership.RestoreTemplate})
		},
		want: []string{`main spec.template.spec.containers[0].args[8]="--initial-cluster-state=new"`},
	},
	{
		name: "W-8 bootstrap flags in a ConfigMap", at: settingsAt, before: fromConfigMap,
		do: func(ctx context.Context, w *writing) error {
			return w.m.patchTemplate(ctx, w.s, membership.Step{Act: membership.SetBootstrap, Bootstrap: fourth})
		},
		want: []string{`settings data.cluster="` + four + `"`, `settings data.state="existing"`},
	},
	{
		name: "W-9 a pod is of the update revision", at: podAt, before: partitioned,
		do:   func(ctx context.Context, w *writing) error { return w.m.adopt(ctx, w.s, 2) },
		want: []string{`main-2 metadata.labels.controller-revision-hash="REVISION"`},
	},
	{
		name: "W-10 the claims of an ordinal", at: claimAt, goneIsDone: true,
		do:   func(ctx context.Context, w *writing) error { return w.m.deleteClaims(ctx, w.s, w.j, 2) },
		want: []string{"data-main-2 deleted"},
	},
	{
		name: "W-11 a pod", at: podAt, goneIsDone: true, do: act(membership.Step{Act: membership.DeletePod, Ordinal: 2}),
		want: []string{"main-2 deleted"},
	},
	{
		name: "W-12 a learner", do: act(membership.Step{Act: membership.AddLearner, Ordinal: 3}),
		want: []string{"add [http://main-3.main-peer.team.svc:2380]"},
	},
	{
		name: "W-16 the strategy as it was, in force by a hold", at: setAt, before: heldAt3, do: act(membership.Step{Act: membership.RestoreStrategy, Releases: true}),
		want: []string{`main metadata.annotations.kubectl-etcd.dev/rollout-author="{\"type\":\"RollingUpdate\",\"rollingUpdate\":{\"partition\":3}}"`},
	},
	{name: "W-13 a vote", do: act(membership.Step{Act: membership.Promote, Member: 3}), want: []string{"promote 3"}},
	{name: "W-14 a member less", do: act(membership.Step{Act: membership.RemoveMember, Member: 3}), want: []string{"remove 3"}},
	{name: "W-15 another leader", do: act(membership.Step{Act: membership.MoveLeader, TransferTo: 2}), want: []string{"move leader to 2"}},
}

// TestWriters: each write changes these fields and no other. Where it is refused, or another client
// has changed the object since it was observed, nothing is written, and the error shows which it is.
func TestWriters(t *testing.T) {
	t.Parallel()
	for _, row := range writeRows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.writes(t)
			row.refused(t)
			if row.at != "" {
				row.changed(t)
				row.gone(t)
			}
		})
	}
}

func (row writeRow) writes(t *testing.T) {
	t.Helper()
	w := newWriting(t, row.before)
	before := w.objects()
	if err := row.do(t.Context(), w); err != nil {
		t.Fatal(err)
	}
	got := append(changes(before, w.objects()), w.Etcd.Writes()...)
	mark, _ := w.j.Found.mark() // strings
	quoted, _ := json.Marshal(mark)
	for i := range got {
		got[i] = strings.ReplaceAll(got[i], string(quoted), `"MARK"`)
		got[i] = strings.ReplaceAll(got[i], w.s.sts.Status.UpdateRevision, "REVISION")
	}
	if diff := cmp.Diff(row.want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func (row writeRow) refused(t *testing.T) {
	t.Helper()
	w := newWriting(t, row.before)
	before := w.objects()
	w.Refuse = forbid(http.StatusForbidden)
	w.Etcd.Fail = func(string) error { return status.Error(codes.PermissionDenied, "etcdserver: permission denied") }
	if err := row.do(t.Context(), w); err == nil || !permanent(err) {
		t.Errorf("refused: %v", err)
	}
	w.wantSame(t, "refused", before)
}

// changed has another client write the object between the observation and the write: a deletion is
// of the object that was observed, and every other write is of the version that was.
func (row writeRow) changed(t *testing.T) {
	t.Helper()
	w := newWriting(t, row.before)
	w.edit(row.at, func(o apitest.Object) {
		meta := operatetest.Field(o, "metadata")
		meta["annotations"] = apitest.Object{"seen": "yes"}
		if row.goneIsDone {
			meta["uid"] = "another"
		}
	})
	before := w.objects()
	if err := row.do(t.Context(), w); !apierrors.IsConflict(err) {
		t.Errorf("changed meanwhile: %v", err)
	}
	w.wantSame(t, "changed meanwhile", before)
}

func (row writeRow) gone(t *testing.T) {
	t.Helper()
	w := newWriting(t, row.before)
	w.Remove(row.at)
	before := w.objects()
	if err := row.do(t.Context(), w); row.goneIsDone != (err == nil) {
		t.Errorf("gone: %v", err)
	}
	w.wantSame(t, "gone", before)
}

func (w *writing) wantSame(t *testing.T, when string, before map[string]apitest.Object) {
	t.Helper()
	if got := append(changes(before, w.objects()), w.Etcd.Writes()...); len(got) > 0 {
		t.Errorf("%s: it wrote %q", when, got)
	}
}

// TestActNothing: a step that is no act writes nothing.
func TestActNothing(t *testing.T) {
	t.Parallel()
	w := newWriting(t, nil)
	before := w.objects()
	for _, step := range []membership.Act{membership.Done, membership.Stop, membership.Wait, ""} {
		if err := w.m.act(t.Context(), w.s, w.j, membership.Step{Act: step}); err == nil || !strings.Contains(err.Error(), "is nothing to do") {
			t.Errorf("%s: %v", step, err)
		}
	}
	w.wantSame(t, "nothing", before)
}

// TestDeleteClaimsOfReplaced: of a pod that is replaced, only the claims that were there before go.
func TestDeleteClaimsOfReplaced(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name    string
		claims  func(w *writing) []string
		deletes bool
	}{
		{"the claim that was there", func(w *writing) []string { return w.s.Ordinals[2].Claims }, true},
		{"the claim of the new pod", func(*writing) []string { return []string{"another"} }, false},
		{"none was there", func(*writing) []string { return nil }, false},
	} {
		w := newWriting(t, nil)
		w.j.Operation, w.j.Ordinal, w.j.Claims = membership.Replace, 2, row.claims(w)
		if err := w.m.deleteClaims(t.Context(), w.s, w.j, 2); err != nil {
			t.Errorf("%s: %v", row.name, err)
		}
		if gone := w.Get(claimAt) == nil; gone != row.deletes {
			t.Errorf("%s: it is deleted: %t", row.name, gone)
		}
	}
}

// TestRecordSize: after members were removed, or where a size is recorded, the number in etcd's own
// list is recorded. A list that can't be read records nothing.
func TestRecordSize(t *testing.T) {
	t.Parallel()
	const size3 = `main metadata.annotations.kubectl-etcd.dev/size="3 at 2026-02-01T00:00:00Z"`
	recorded := func(w *writing) {
		w.edit(setAt, func(o apitest.Object) {
			operatetest.Field(o, "metadata")["annotations"] = apitest.Object{"kubectl-etcd.dev/size": "7 at 2026-01-01T00:00:00Z"}
		})
	}
	for _, row := range []struct {
		name      string
		operation membership.Operation
		before    func(*writing)
		after     func(*writing)
		want      []string
		err       string
	}{
		{name: "S-1 members were added", operation: membership.ScaleOut},
		{name: "S-2 members were removed", operation: membership.ScaleIn, want: []string{size3}},
		{name: "S-3 added, with a size from before", operation: membership.ScaleOut, before: recorded, want: []string{size3}},
		{name: "S-4 replaced, with a size from before", operation: membership.Replace, before: recorded, want: []string{size3}},
		{
			name: "S-5 no member answers", operation: membership.ScaleIn, err: "read the member list of StatefulSet team/main",
			after: func(w *writing) {
				for i := range 3 {
					w.Etcd.Stop(fmt.Sprintf("main-%d", i))
				}
				_ = w.m.Close()
				w.m.cluster = nil
			},
		},
		{name: "S-6 no permission", operation: membership.ScaleIn, after: func(w *writing) { w.Refuse = forbid(http.StatusForbidden) }, err: "refused by the test"},
		{name: "S-7 the StatefulSet is gone", operation: membership.ScaleIn, after: func(w *writing) { w.Remove(setAt) }, err: "main"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			w := newWriting(t, row.before)
			w.j.Operation = row.operation
			if row.after != nil {
				row.after(w)
			}
			before := w.objects()
			err := w.m.recordSize(t.Context(), w.j)
			if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("the error is %v, want %q", err, row.err)
			}
			if diff := cmp.Diff(row.want, changes(before, w.objects())); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRunOfAnother: an operation whose StatefulSet was deleted and created again changes nothing.
func TestRunOfAnother(t *testing.T) {
	t.Parallel()
	w := newWriting(t, nil)
	if err := w.m.Begin(t.Context(), w.j, false); err != nil {
		t.Fatal(err)
	}
	w.edit(setAt, func(o apitest.Object) { operatetest.Field(o, "metadata")["uid"] = "another" })
	before := w.objects()
	for range 2 {
		if _, err := w.m.step(t.Context(), w.j); err == nil || !strings.Contains(err.Error(), "StatefulSet team/main was created again since the scale began") {
			t.Errorf("a step: %v", err)
		} else if halted, is := errors.AsType[*operate.HaltedError](err); !is || !halted.Final || !permanent(err) {
			t.Errorf("it is awaited, or has ways to go on: %v", err)
		}
	}
	w.wantSame(t, "created again", before)
}

// TestReleasesManager: a write by which pods may restart with another client's template has its own field manager, by which
// admission distinguishes it from the steps that it leaves alone.
func TestReleasesManager(t *testing.T) {
	t.Parallel()
	for releases, want := range map[bool]string{false: v1alpha1.PluginFieldManager, true: v1alpha1.PluginReleasesFieldManager} {
		w := newWriting(t, partitioned)
		if err := act(membership.Step{Act: membership.RestoreStrategy, Releases: releases})(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		if got := w.Manager(); got != want {
			t.Errorf("releases is %t: the manager is %q, want %q", releases, got, want)
		}
	}
}
