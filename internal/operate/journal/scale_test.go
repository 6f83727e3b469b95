// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package journal

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
)

// awaiting is the journal of a restore of which only a scale to three members is left.
const awaiting = `{"kind":"snapshot restore","began":"2026-11-20T12:00:00Z","object":"sts-1","scaleTo":3,"payload":{"sha256":"ab"}}`

// about returns the description of the journal in the cluster.
func about(s *apitest.Server) string {
	data, _ := s.Get(configMapPath)["data"].(apitest.Object)
	text, _ := data[aboutKey].(string)
	return text
}

// TestTakeOver: the journal of a scale replaces that of a restore of which only a scale is left, in one write. No other
// one does, and it replaces no other one.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, kind, before string
		change             func(*appsv1.StatefulSet)
		took               bool
	}{
		{name: "a scale", kind: "scale", before: awaiting, took: true},
		{name: "a restart", kind: KindRestart, before: awaiting},
		{name: "another restore", kind: KindRestore, before: awaiting},
		{name: "a replacement", kind: "member replace", before: awaiting},
		{name: "a restore that is unfinished", kind: "scale", before: strings.ReplaceAll(awaiting, `"scaleTo":3,`, "")},
		{name: "a scale that is unfinished", kind: "scale", before: strings.ReplaceAll(awaiting, KindRestore, "scale")},
		{name: "of another StatefulSet", kind: "scale", before: awaiting, change: func(sts *appsv1.StatefulSet) { sts.UID = "sts-2" }},
		{name: "a restore that has not removed its mark", kind: "scale", before: awaiting, change: func(sts *appsv1.StatefulSet) {
			sts.Annotations[v1alpha1.RestoreAnnotation] = "2026-11-20T12:00:00Z 3"
		}},
		{name: "a number that no cluster has", kind: "scale", before: strings.ReplaceAll(awaiting, ":3,", ":2000000000,")},
	} {
		for _, dry := range []bool{false, true} {
			s := apitest.New(t)
			put(s, "config-1", apitest.Object{dataKey: row.before})
			sts := statefulSet("sts-1")
			if row.change != nil {
				row.change(sts)
			}
			j := began(noon())
			j.Kind = row.kind
			err := j.Create(t.Context(), s.Client(t), sts, dry)
			if (err == nil) != row.took || err != nil && !strings.Contains(err.Error(), "another operation has begun") {
				t.Errorf("%s, dry %t: %v", row.name, dry, err)
			}
			if changed := text(s) != row.before; changed != (row.took && !dry) {
				t.Errorf("%s, dry %t: %s", row.name, dry, text(s))
			}
			if row.took && !dry && (!strings.Contains(about(s), "kubectl etcd scale is under way") || j.Name() != Name(o)) {
				t.Errorf("%s: %s", row.name, about(s))
			}
		}
	}
}

// TestTakeOverRefused: a journal that another client has written or removed since it was read is not replaced, and none
// is if the API server refuses the write.
func TestTakeOverRefused(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		meanwhile func(s *apitest.Server) int
		left      string
		fails     bool
	}{
		"refused": {func(*apitest.Server) int { return 403 }, awaiting, true},
		"changed": {func(s *apitest.Server) int { label(s); return 0 }, awaiting, true},
		"gone":    {func(s *apitest.Server) int { s.Remove(configMapPath); return 0 }, "", false},
	} {
		s := apitest.New(t)
		put(s, "config-1", apitest.Object{dataKey: awaiting})
		s.Refuse = func(method, path string) int {
			if method == "PATCH" && path == configMapPath {
				return row.meanwhile(s)
			}
			return 0
		}
		took, err := began(noon()).takeOver(t.Context(), s.Client(t), statefulSet("sts-1"), "{}", false)
		if took || (err != nil) != row.fails || text(s) != row.left {
			t.Errorf("%s: took %t, %v: %s", name, took, err, text(s))
		}
	}
}

// TestReinstate: a scale that was undone leaves the restore that it has followed, with the number of members. Its end
// leaves nothing.
func TestReinstate(t *testing.T) {
	t.Parallel()
	for _, end := range []bool{false, true} {
		s := apitest.New(t)
		kube := s.Client(t)
		put(s, "config-1", apitest.Object{dataKey: awaiting})
		create(t, kube)
		j, err := Read(t.Context(), kube, o) // by a later process
		if err != nil || j.Kind != "scale" || j.ScaleTo != 0 {
			t.Fatalf("%+v, %v", j, err)
		}
		j.Payload = json.RawMessage(`{"Target":5,"Undo":true}`)
		if err := j.Update(t.Context(), kube); err != nil {
			t.Fatal(err)
		}
		if end {
			err = j.Delete(t.Context(), kube)
		} else {
			err = j.Reinstate(t.Context(), kube)
		}
		if want := map[bool]string{false: awaiting}[end]; err != nil || text(s) != want {
			t.Errorf("end %t: %v: %s", end, err, text(s))
		}
		if !end && !strings.Contains(about(s), "kubectl etcd scale statefulset/main --replicas 3") {
			t.Errorf("about: %s", about(s))
		}
	}
	s := apitest.New(t)
	kube := s.Client(t)
	if err := create(t, kube).Reinstate(t.Context(), kube); err != nil || text(s) != "" {
		t.Errorf("a scale that followed nothing: %v: %s", err, text(s))
	}
}

// TestDeleteUnchanged: a journal that another command has taken over stays.
func TestDeleteUnchanged(t *testing.T) {
	t.Parallel()
	s := apitest.New(t)
	kube := s.Client(t)
	put(s, "config-1", apitest.Object{dataKey: awaiting})
	j, err := Read(t.Context(), kube, o)
	if err != nil {
		t.Fatal(err)
	}
	create(t, kube)
	if err := j.DeleteUnchanged(t.Context(), kube); !errors.Is(err, ErrChanged) || text(s) == "" {
		t.Errorf("%v: %s", err, text(s))
	}
	if j, err = Read(t.Context(), kube, o); err == nil {
		err = j.DeleteUnchanged(t.Context(), kube)
	}
	if err != nil || text(s) != "" {
		t.Errorf("%v: %s", err, text(s))
	}
}
