// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

const events = "/apis/events.k8s.io/v1/namespaces/team/events"

// TestAnnounce: an Event has what the API server demands, whatever the length of its parts.
func TestAnnounce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"main", strings.Repeat("long", 60)} {
		s := apitest.New(t)
		owner := owner.Owner{APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "team", Name: name, UID: "u"}
		if err := Announce(t.Context(), s.Client(t), owner, reasons.Scaled, strings.Repeat("ü", 600)); err != nil {
			t.Fatal(err)
		}
		paths := s.Paths()
		event := s.Get(paths[0])
		note, _ := event["note"].(string)
		about, _ := event["regarding"].(apitest.Object)
		const maxNote = 1024 // of the API server
		if len(note) > maxNote || !utf8.ValidString(note) || len(note) < maxNote-len("...")-1 {
			t.Errorf("the note has %d bytes", len(note))
		}
		if about["name"] != name || about["uid"] != "u" || event["reason"] != "Scaled" || event["action"] == "" || event["reportingInstance"] == "" {
			t.Errorf("the Event is %v", event)
		}
		if at := strings.TrimPrefix(paths[0], events+"/"); len(paths) != 1 || len(at) > 253 {
			t.Errorf("objects are %q", paths)
		}
	}
	s := apitest.New(t)
	s.Refuse = func(string, string) int { return http.StatusForbidden }
	if err := Announce(t.Context(), s.Client(t), owner.Owner{Kind: "StatefulSet", Namespace: "team", Name: "main"}, reasons.Scaled, ""); err == nil || !strings.Contains(err.Error(), "record an Event on StatefulSet team/main") {
		t.Errorf("refused: %v", err)
	}
}

// TestMissing: the permissions that are missing come in their order, and none is asked for
// that a request can't be made of.
func TestMissing(t *testing.T) {
	t.Parallel()
	needs := []Need{
		{Verb: "get", Resource: "pods", Namespace: "team", Name: "main-0"},
		{Verb: "create", Resource: "pods", Subresource: "portforward", Namespace: "team"},
		{Verb: "patch", Group: "apps", Resource: "statefulsets", Namespace: "team"},
		{Verb: "list", Resource: "nodes"},
	}
	s := apitest.New(t)
	kube := s.Client(t)
	s.Deny = func(verb, _ string) bool { return verb == "patch" || verb == "list" }
	missing, err := Missing(t.Context(), kube, needs)
	if err != nil || !slices.Equal(missing, needs[2:]) {
		t.Fatalf("missing are %v: %v", missing, err)
	}
	const want = `user "ann" lacks 2 permissions that this command needs; nothing was changed. Missing:
  verb "patch" on "statefulsets.apps" in namespace "team"
  verb "list" on "nodes" in the whole cluster`
	if got := (&MissingError{User: "ann", Needs: missing}).Error(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if len(s.Writes()) > 0 {
		t.Errorf("asking wrote %q", s.Writes())
	}
	s.Refuse = func(string, string) int { return http.StatusInternalServerError }
	if missing, err = Missing(t.Context(), kube, needs[:1]); err == nil || missing != nil {
		t.Errorf("no answer: %v, %v", missing, err)
	}
}

// TestMay: a permission is what the API server answers, and no answer is none.
func TestMay(t *testing.T) {
	t.Parallel()
	s := apitest.New(t)
	kube := s.Client(t)
	s.Deny = func(verb, resource string) bool { return verb == "delete" || resource == "nodes" }
	for need, want := range map[Need]bool{
		{Verb: "get", Resource: "pods", Namespace: "team"}:    true,
		{Verb: "delete", Resource: "pods", Namespace: "team"}: false,
		{Verb: "get", Resource: "nodes"}:                      false,
	} {
		if got, err := may(t.Context(), kube, need); got != want || err != nil {
			t.Errorf("%s: %t, %v", need, got, err)
		}
	}
	s.Refuse = func(string, string) int { return http.StatusForbidden }
	if got, err := may(t.Context(), kube, Need{Verb: "get", Resource: "nodes"}); got || err == nil || !strings.Contains(err.Error(), `check the permission verb "get" on "nodes" in the whole cluster`) {
		t.Errorf("no answer: %t, %v", got, err)
	}
}
