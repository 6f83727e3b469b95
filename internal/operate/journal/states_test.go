// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

const configMapPath = "/api/v1/namespaces/team/configmaps/kubectl-etcd-main"

var o = owner.Owner{Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"}

// secret is a value that a StatefulSet has and that a journal must not have.
const secret = "hunter2"

// statefulSet returns team/main with secrets wherever a StatefulSet can have them.
func statefulSet(uid types.UID) *appsv1.StatefulSet {
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team", Name: "main", UID: uid, Labels: map[string]string{"token": secret},
		Annotations: map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"password":"` + secret + `"}`},
	}}
	sts.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "etcd", Args: []string{"--password=" + secret}, Env: []corev1.EnvVar{{Name: "ETCD_ROOT_PASSWORD", Value: secret}},
	}}
	return sts
}

// began returns the journal of a scale that ann began at noon.
func began(clock *clocktesting.FakeClock) *Journal {
	return &Journal{
		Kind: "scale", Began: clock.Now().UTC(), By: "ann@desk (pid 7)", Reason: "more room",
		Object: "sts-1", Payload: json.RawMessage(`{"Target":5}`),
	}
}

func noon() *clocktesting.FakeClock {
	return clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
}

// create begins the scale of ann.
func create(t *testing.T, kube client.Client) *Journal {
	t.Helper()
	j := began(noon())
	if err := j.Create(t.Context(), kube, statefulSet("sts-1"), false); err != nil {
		t.Fatal(err)
	}
	return j
}

// put keeps a ConfigMap with the journal's name, as another client writes it.
func put(s *apitest.Server, uid string, data apitest.Object) {
	s.Put(configMapPath, apitest.Object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": apitest.Object{"namespace": "team", "name": Name(o), "uid": uid}, "data": data,
	})
}

// text returns the journal's text in the cluster, empty for none.
func text(s *apitest.Server) string {
	data, _ := s.Get(configMapPath)["data"].(apitest.Object)
	text, _ := data[dataKey].(string)
	return text
}

// lossy is an API server whose answers to writes are lost on the way, as for a command that is
// interrupted just then.
type lossy struct{ client.Client }

func (l lossy) Create(ctx context.Context, o client.Object, options ...client.CreateOption) error {
	if err := l.Client.Create(ctx, o.DeepCopyObject().(client.Object), options...); err != nil { //nolint:forcetypeassert // a copy is of the same type
		return err
	}
	return context.Canceled
}

func (l lossy) Patch(ctx context.Context, o client.Object, patch client.Patch, options ...client.PatchOption) error {
	if err := l.Client.Patch(ctx, o.DeepCopyObject().(client.Object), patch, options...); err != nil { //nolint:forcetypeassert // a copy is of the same type
		return err
	}
	return context.Canceled
}

func (l lossy) Delete(ctx context.Context, o client.Object, options ...client.DeleteOption) error {
	if err := l.Client.Delete(ctx, o, options...); err != nil {
		return err
	}
	return context.Canceled
}

// refuse lets the API server refuse a method from now on.
func refuse(s *apitest.Server, method string, code int) {
	s.Refuse = func(m, _ string) int {
		if m == method {
			return code
		}
		return 0
	}
}

// TestCreate: one operation at a time begins, a refused one leaves nothing, and the journal has the
// envelope and the payload, and nothing else of the StatefulSet.
func TestCreate(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		before func(*apitest.Server)
		kube   func(client.Client) client.Client
		dry    bool
		err    string
		// there is whether ann's journal is in the cluster at the end.
		there bool
	}{
		{name: "nothing is there", there: true},
		{name: "a dry run", dry: true},
		{
			name: "another operation has begun", before: func(s *apitest.Server) { put(s, "bob's", apitest.Object{dataKey: `{"kind":"restart"}`}) },
			err: "another operation has begun since the plan was made; see kubectl etcd status statefulset/main -n team",
		},
		{
			name: "a dry run where another has begun", dry: true, before: func(s *apitest.Server) { put(s, "bob's", apitest.Object{dataKey: `{"kind":"restart"}`}) },
			err: "another operation has begun",
		},
		{name: "no permission", before: func(s *apitest.Server) { refuse(s, http.MethodPost, http.StatusForbidden) }, err: "write the journal of StatefulSet team/main"},
		{name: "too large", before: func(s *apitest.Server) { refuse(s, http.MethodPost, http.StatusRequestEntityTooLarge) }, err: "write the journal of StatefulSet team/main"},
		{name: "interrupted before the answer", kube: func(c client.Client) client.Client { return lossy{c} }, err: "context canceled", there: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := apitest.New(t)
			kube := s.Client(t)
			if row.before != nil {
				row.before(s)
			}
			before := runtime.DeepCopyJSON(s.Get(configMapPath))
			if row.kube != nil {
				kube = row.kube(kube)
			}
			j := began(noon())
			operatetest.WantError(t, j.Create(t.Context(), kube, statefulSet("sts-1"), row.dry), row.err)
			if row.there {
				wantStored(t, s)
			} else if diff := cmp.Diff(before, s.Get(configMapPath)); diff != "" {
				t.Errorf("the ConfigMap changed (-before +after):\n%s", diff)
			}
		})
	}
}

// wantStored wants the journal of ann's scale in the cluster, exactly, and that it can be resumed.
func wantStored(t *testing.T, s *apitest.Server) {
	t.Helper()
	got := runtime.DeepCopyJSON(s.Get(configMapPath))
	meta, _ := got["metadata"].(apitest.Object)
	delete(meta, "uid")
	delete(meta, "resourceVersion")
	data, _ := got["data"].(apitest.Object)
	delete(data, "about")
	want := apitest.Object{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": apitest.Object{
			"namespace": "team", "name": "kubectl-etcd-main", "labels": apitest.Object{"app.kubernetes.io/managed-by": "kubectl-etcd"},
			"ownerReferences": []any{apitest.Object{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "main", "uid": "sts-1"}},
		},
		"data": apitest.Object{dataKey: `{
  "kind": "scale",
  "began": "2026-11-20T12:00:00Z",
  "by": "ann@desk (pid 7)",
  "reason": "more room",
  "object": "sts-1",
  "payload": {
    "Target": 5
  }
}`},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the ConfigMap (-want +got):\n%s", diff)
	}
	if all, _ := json.Marshal(s.Get(configMapPath)); strings.Contains(string(all), secret) {
		t.Errorf("the journal has a secret: %s", all)
	}
	read, err := Read(t.Context(), s.Client(t), o)
	if err != nil || read == nil || read.Kind != "scale" || read.Object != "sts-1" {
		t.Errorf("it is read as %+v: %v", read, err)
	}
}

// TestRead: a ConfigMap that is no journal ends in an error that has its name and what to do, and
// is left as it is.
func TestRead(t *testing.T) {
	t.Parallel()
	const restore = "restore its earlier contents"
	for _, row := range []struct {
		name string
		data apitest.Object
		code int
		err  string
		want *Journal
	}{
		{name: "R-1 no journal"},
		{name: "R-2 another's object", data: apitest.Object{"settings.yaml": "a: b"}, err: "it has no key journal.json: restore it, or rename the object that has this name"},
		{name: "R-3 no text", data: apitest.Object{dataKey: ""}, err: restore},
		{name: "R-4 cut off", data: apitest.Object{dataKey: `{"kind":"scale","payload":{"Tar`}, err: restore},
		{name: "R-5 no object", data: apitest.Object{dataKey: `["scale"]`}, err: restore},
		{name: "R-6 null", data: apitest.Object{dataKey: `null`}, err: "use the version of kubectl-etcd that began the operation"},
		{name: "R-7 two texts", data: apitest.Object{dataKey: `{"kind":"scale"}{"kind":"restart"}`}, err: restore},
		{name: "R-8 a kind that is a number", data: apitest.Object{dataKey: `{"kind":7}`}, err: restore},
		{name: "R-9 a time that is none", data: apitest.Object{dataKey: `{"kind":"scale","began":"yesterday"}`}, err: restore},
		{name: "R-10 too deep", data: apitest.Object{dataKey: `{"kind":"scale","payload":` + strings.Repeat("[", 1<<19)}, err: restore},
		{name: "R-11 unknown flat operation", data: apitest.Object{dataKey: `{"Operation":"` + "\\u001b[2J" + `"}`}, err: `its operation "\x1b[2J" is unknown`},
		{
			name: "R-12 escapes for terminals", data: apitest.Object{dataKey: `{"kind":"scale","by":"\u001b[2Jroot","reason":"a\r\nb","payload":1}`},
			want: &Journal{Kind: "scale", By: "\ufffd[2Jroot", Reason: "a b", Payload: json.RawMessage("1")},
		},
		{
			name: "R-13 a megabyte of reason", data: apitest.Object{dataKey: `{"kind":"scale","reason":"` + strings.Repeat("x", 1<<20) + `"}`},
			want: &Journal{Kind: "scale", Reason: strings.Repeat("x", 1997) + "..."},
		},
		{
			name: "R-14 fields of a later version", data: apitest.Object{dataKey: `{"kind":"scale","object":"sts-1","later":{"a":1}}`},
			want: &Journal{Kind: "scale", Object: "sts-1"},
		},
		{name: "R-15 no permission", data: apitest.Object{dataKey: `{"kind":"scale"}`}, code: http.StatusForbidden, err: "read the journal of StatefulSet team/main"},
		{name: "R-16 no answer", code: http.StatusInternalServerError, err: "read the journal of StatefulSet team/main"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := apitest.New(t)
			if row.data != nil {
				put(s, "u", row.data)
			}
			before := runtime.DeepCopyJSON(s.Get(configMapPath))
			kube := s.Client(t)
			refuse(s, http.MethodGet, row.code)
			got, err := Read(t.Context(), kube, o)
			operatetest.WantError(t, err, row.err)
			if err != nil && row.code == 0 && !strings.Contains(err.Error(), "read the journal of StatefulSet team/main, ConfigMap kubectl-etcd-main: ") {
				t.Errorf("the error names no object: %v", err)
			}
			if got != nil {
				got.config = corev1.ConfigMap{}
			}
			if diff := cmp.Diff(row.want, got, cmp.AllowUnexported(Journal{})); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, s.Get(configMapPath)); diff != "" || len(s.Writes()) > 0 {
				t.Errorf("reading wrote %q:\n%s", s.Writes(), diff)
			}
		})
	}
}

// TestUpdate: a change of the payload is written on the journal that was read, never on another's.
func TestUpdate(t *testing.T) {
	t.Parallel()
	const ours, theirs = `"Target": 7`, `{"kind":"scale","by":"bob","payload":{"Target":3}}`
	for _, row := range []struct {
		name string
		// during happens between the creation and the update.
		during func(*apitest.Server)
		kube   func(client.Client) client.Client
		err    string
		// has is a part of the text in the end, empty where no journal is there.
		has string
		// again is true if the same update succeeds once nothing hinders it.
		again bool
	}{
		{name: "U-1 as it was read", has: ours},
		{name: "U-2 another client labels it", during: label, has: ours},
		{
			name: "U-3 another process has taken it over", during: func(s *apitest.Server) { put(s, "uid-1", apitest.Object{dataKey: theirs}) },
			err: "another process has changed it: run the command again", has: theirs,
		},
		{
			name: "U-4 ended and begun again with the same text", during: func(s *apitest.Server) {
				o := runtime.DeepCopyJSON(s.Get(configMapPath))
				o["metadata"].(apitest.Object)["uid"] = "another" //nolint:forcetypeassert // as it was created
				s.Put(configMapPath, o)
			},
			err: "another process has changed it", has: `"Target": 5`,
		},
		{name: "U-5 deleted", during: func(s *apitest.Server) { s.Remove(configMapPath) }, err: "write the journal team/kubectl-etcd-main"},
		{
			name: "U-6 no permission", during: func(s *apitest.Server) { refuse(s, http.MethodPatch, http.StatusForbidden) },
			err: "write the journal team/kubectl-etcd-main", has: `"Target": 5`, again: true,
		},
		{
			name: "U-7 a conflict each time", during: func(s *apitest.Server) { refuse(s, http.MethodPatch, http.StatusConflict) },
			err: "write the journal team/kubectl-etcd-main", has: `"Target": 5`, again: true,
		},
		{name: "U-8 interrupted before the answer", kube: func(c client.Client) client.Client { return lossy{c} }, err: "context canceled", has: ours, again: true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := apitest.New(t)
			kube := s.Client(t)
			j := create(t, kube)
			if row.during != nil {
				row.during(s)
			}
			used := kube
			if row.kube != nil {
				used = row.kube(kube)
			}
			j.Payload = json.RawMessage(`{"Target": 7}`)
			operatetest.WantError(t, j.Update(t.Context(), used), row.err)
			if has := text(s); !strings.Contains(has, row.has) || row.has == "" && has != "" {
				t.Errorf("the journal is %s, want %s", has, row.has)
			}
			if row.again {
				s.Refuse = nil
				if err := j.Update(t.Context(), kube); err != nil || !strings.Contains(text(s), ours) {
					t.Errorf("again: %v, the journal is %s", err, text(s))
				}
			}
			if row.during != nil && row.err == "" && !labelled(s) {
				t.Error("the label of another client is gone")
			}
		})
	}
}

// TestWrite: a text is written on the version that was read, and what was read stays where it isn't
// written.
func TestWrite(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		during func(*apitest.Server)
		writes bool
		is     func(error) bool
	}{
		{name: "as it was read", writes: true},
		{name: "changed", during: label, is: apierrors.IsConflict},
		{name: "deleted", during: func(s *apitest.Server) { s.Remove(configMapPath) }, is: apierrors.IsNotFound},
		{name: "denied", during: func(s *apitest.Server) { refuse(s, http.MethodPatch, http.StatusForbidden) }, is: apierrors.IsForbidden},
	} {
		s := apitest.New(t)
		kube := s.Client(t)
		j := create(t, kube)
		if row.during != nil {
			row.during(s)
		}
		before := text(s)
		known := j.config.DeepCopy()
		err := j.write(t.Context(), kube, "new")
		if row.writes {
			if err != nil || text(s) != "new" || j.config.Data[dataKey] != "new" {
				t.Errorf("%s: %v, the text is %s", row.name, err, text(s))
			}
			continue
		}
		if !row.is(err) || text(s) != before {
			t.Errorf("%s: %v, the text is %s", row.name, err, text(s))
		}
		if diff := cmp.Diff(known, &j.config); diff != "" {
			t.Errorf("%s: it takes for read:\n%s", row.name, diff)
		}
	}
}

// label has another client set a label of the journal's ConfigMap.
func label(s *apitest.Server) {
	o := runtime.DeepCopyJSON(s.Get(configMapPath))
	o["metadata"].(apitest.Object)["labels"].(apitest.Object)["seen"] = "yes" //nolint:forcetypeassert // as it was created
	s.Put(configMapPath, o)
}

func labelled(s *apitest.Server) bool {
	meta, _ := s.Get(configMapPath)["metadata"].(apitest.Object)
	labels, _ := meta["labels"].(apitest.Object)
	return labels["seen"] == "yes"
}

// TestDelete: the journal that was read or created is removed, and no other.
func TestDelete(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		during func(*apitest.Server)
		kube   func(client.Client) client.Client
		err    string
		there  bool
	}{
		{name: "D-1 as it was created"},
		{name: "D-2 another client labels it", during: label},
		{name: "D-3 deleted already", during: func(s *apitest.Server) { s.Remove(configMapPath) }},
		{
			name: "D-4 another operation has begun since", during: func(s *apitest.Server) { put(s, "bob's", apitest.Object{dataKey: `{"kind":"restart"}`}) },
			err: "remove the journal team/kubectl-etcd-main", there: true,
		},
		{
			name: "D-5 no permission", during: func(s *apitest.Server) { refuse(s, http.MethodDelete, http.StatusForbidden) },
			err: "remove the journal team/kubectl-etcd-main", there: true,
		},
		{name: "D-6 interrupted before the answer", kube: func(c client.Client) client.Client { return lossy{c} }, err: "context canceled"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := apitest.New(t)
			kube := s.Client(t)
			j := create(t, kube)
			if row.during != nil {
				row.during(s)
			}
			used := kube
			if row.kube != nil {
				used = row.kube(kube)
			}
			operatetest.WantError(t, j.Delete(t.Context(), used), row.err)
			if there := s.Get(configMapPath) != nil; there != row.there {
				t.Errorf("the journal is there: %t", there)
			}
			if !row.there {
				if err := j.Delete(t.Context(), kube); err != nil {
					t.Errorf("again: %v", err)
				}
			}
		})
	}
}

// TestResume: the process that began is paused, another user resumes its operation the day after, and
// the first one, once it wakes, overwrites nothing.
func TestResume(t *testing.T) {
	t.Parallel()
	s := apitest.New(t)
	kube := s.Client(t)
	clock := noon()
	ann := create(t, kube)
	clock.Step(24 * time.Hour)
	bob, err := Read(t.Context(), kube, o)
	if err != nil {
		t.Fatal(err)
	}
	if !bob.Same(ann) || bob.By != ann.By || bob.Reason != ann.Reason || bob.Name() != Name(o) || clock.Since(bob.Began) != 24*time.Hour {
		t.Errorf("bob reads %+v", bob)
	}
	bob.Payload = json.RawMessage(`{"Undo":true}`)
	if err := bob.Update(t.Context(), kube); err != nil {
		t.Fatal(err)
	}
	ann.Payload = json.RawMessage(`{"Target":7}`)
	operatetest.WantError(t, ann.Update(t.Context(), kube), "another process has changed it")
	if !strings.Contains(text(s), `"Undo": true`) {
		t.Errorf("the journal is %s", text(s))
	}
	if err := bob.Delete(t.Context(), kube); err != nil || s.Get(configMapPath) != nil {
		t.Errorf("the journal is still there: %v", err)
	}
}

// TestCreatedAgain: a StatefulSet that was deleted and created again is not that of the journal, which
// stays until a user has decided about it.
func TestCreatedAgain(t *testing.T) {
	t.Parallel()
	s := apitest.New(t)
	kube := s.Client(t)
	create(t, kube)
	before := text(s)
	again := statefulSet("sts-2")
	next := began(noon())
	next.Object = again.UID
	operatetest.WantError(t, next.Create(t.Context(), kube, again, false), "another operation has begun")
	old, err := Read(t.Context(), kube, o)
	if err != nil || old.Object != "sts-1" || text(s) != before {
		t.Errorf("the journal is of %s: %v", old.Object, err)
	}
	if err := old.Delete(t.Context(), kube); err != nil {
		t.Fatal(err)
	}
	if err := next.Create(t.Context(), kube, again, false); err != nil || !strings.Contains(text(s), `"object": "sts-2"`) {
		t.Errorf("the new one: %v, %s", err, text(s))
	}
}

// TestList: all journals of the namespace are found, also of a StatefulSet that is gone and those that
// can't be read, and nothing else.
func TestList(t *testing.T) {
	t.Parallel()
	s := apitest.New(t)
	kube := s.Client(t)
	create(t, kube)
	for name, data := range map[string]apitest.Object{
		"kubectl-etcd-later":    {dataKey: `{"kind":"restore","object":"sts-7","payload":{"any":[1]}}`},
		"kubectl-etcd-cut-off":  {dataKey: `{"kind":`},
		"kubectl-etcd-settings": {"settings": "1"},
		"another":               {dataKey: `{"kind":"scale"}`},
	} {
		s.Put("/api/v1/namespaces/team/configmaps/"+name, apitest.Object{
			"apiVersion": "v1", "kind": "ConfigMap", "data": data,
			"metadata": apitest.Object{"namespace": "team", "name": name, "labels": apitest.Object{managedBy: manager}},
		})
	}
	for _, namespace := range []string{"team", ""} {
		all, err := List(t.Context(), kube, namespace)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, l := range all {
			got[l.StatefulSet] = "unreadable"
			if l.Err == nil {
				got[l.StatefulSet] = l.Journal.Kind + " of " + string(l.Journal.Object)
			}
		}
		if diff := cmp.Diff(map[string]string{"main": "scale of sts-1", "later": "restore of sts-7", "cut-off": "unreadable"}, got); diff != "" {
			t.Errorf("in %q (-want +got):\n%s", namespace, diff)
		}
	}
	refuse(s, http.MethodGet, http.StatusForbidden)
	if _, err := List(t.Context(), kube, "team"); !apierrors.IsForbidden(err) {
		t.Errorf("%v", err)
	}
}
