// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	stdcmp "cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
)

// held returns a lock of ann that nothing renews in the background, five seconds after noon.
func held(t *testing.T, kube client.Client, clock *clocktesting.FakeClock) *Lock {
	t.Helper()
	a := acquirer{kube: kube, lease: leaseKey(o), claim: Claim{Operation: "scale", Holder: "ann", Cluster: o.String(), Clock: clock}}
	lease, previous, err := a.try(t.Context())
	if err != nil || previous != nil {
		t.Fatalf("acquired after %v: %v", previous, err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	clock.Step(5 * time.Second)
	return &Lock{kube: kube, clock: clock, name: a.lease.String(), ctx: ctx, cancel: cancel, lease: lease, renewed: a.sent}
}

func noon() *clocktesting.FakeClock {
	return clocktesting.NewFakeClock(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC))
}

// state returns what a write can change of the lease, nil for no lease.
func state(s *apitest.Server) map[string]any {
	lease := s.Get(leasePath)
	if lease == nil {
		return nil
	}
	meta, _ := lease["metadata"].(apitest.Object)
	spec, _ := lease["spec"].(apitest.Object)
	out := map[string]any{"holder": spec["holderIdentity"], "renewed": spec["renewTime"], "labels": meta["labels"]}
	annotations, _ := meta["annotations"].(apitest.Object)
	for key, value := range annotations {
		out[strings.TrimPrefix(key, recordPrefix)] = value
	}
	return out
}

// edit changes the lease as another client does.
func edit(s *apitest.Server, change func(meta, spec apitest.Object)) {
	lease := runtime.DeepCopyJSON(s.Get(leasePath))
	change(lease["metadata"].(apitest.Object), lease["spec"].(apitest.Object)) //nolint:forcetypeassert // as it was created
	s.Put(leasePath, lease)
}

func label(s *apitest.Server) {
	edit(s, func(meta, _ apitest.Object) { meta["labels"] = apitest.Object{"seen": "yes"} })
}

func takeOver(s *apitest.Server) {
	edit(s, func(_, spec apitest.Object) { spec["holderIdentity"], spec["acquireTime"] = "mallory", later })
}

func createAgain(s *apitest.Server) {
	edit(s, func(meta, _ apitest.Object) { meta["uid"] = "another" })
}

func record(s *apitest.Server) {
	edit(s, func(meta, _ apitest.Object) {
		meta["annotations"].(apitest.Object)[recordPrefix+"note"] = "a" //nolint:forcetypeassert // as it was created
	})
}

// TestWriters: each write of a lease changes these fields. It leaves the changes of other clients, and
// a lease that another process holds by now.
func TestWriters(t *testing.T) {
	t.Parallel()
	const at0, at5 = "2026-11-20T12:00:00.000000Z", "2026-11-20T12:00:05.000000Z"
	seen := apitest.Object{"seen": "yes"}
	lease := func(holder any, renewed string, more ...any) map[string]any {
		out := map[string]any{"holder": holder, "renewed": renewed, "labels": nil, "operation": "scale"}
		for i := 0; i < len(more); i += 2 {
			out[more[i].(string)] = more[i+1] //nolint:forcetypeassert // a name
		}
		return out
	}
	set := func(ctx context.Context, l *Lock) error { return l.patchRecord(ctx, "note", "a") }
	unset := func(ctx context.Context, l *Lock) error { return l.patchRecord(ctx, "note", nil) }
	renew := func(ctx context.Context, l *Lock) error { return l.renew(ctx) }
	reread := func(ctx context.Context, l *Lock) error { _, err := l.reread(ctx); return err }
	free := func(ctx context.Context, l *Lock) error {
		l.lease.Annotations = nil
		return l.free(ctx)
	}
	freeWithRecord := func(ctx context.Context, l *Lock) error {
		l.lease.Annotations[recordPrefix+"note"] = "a"
		return l.free(ctx)
	}
	clearHolder := func(ctx context.Context, l *Lock) error { return l.clear(ctx) }
	remove := func(s *apitest.Server) { s.Remove(leasePath) }
	for _, row := range []struct {
		name   string
		do     func(context.Context, *Lock) error
		during func(*apitest.Server)
		refuse string // the method that is refused
		code   int    // by default, 403
		want   map[string]any
		lost   bool
		err    string
	}{
		{name: "renew", do: renew, want: lease("ann", at5)},
		{name: "renew, labelled", do: renew, during: label, want: lease("ann", at5, "labels", seen)},
		{name: "renew, taken over", do: renew, during: takeOver, want: lease("mallory", at0), lost: true, err: "it is held by mallory"},
		{name: "renew, created again", do: renew, during: createAgain, want: lease("ann", at0), lost: true, err: "it is held by ann"},
		{name: "renew, deleted", do: renew, during: remove, lost: true, err: "another client deleted it"},
		{name: "renew, refused", do: renew, refuse: http.MethodPut, want: lease("ann", at0)}, // and retried until the deadline
		{name: "reread", do: reread, want: lease("ann", at5)},
		{name: "reread, labelled", do: reread, during: label, want: lease("ann", at5, "labels", seen)},
		{name: "reread, taken over", do: reread, during: takeOver, want: lease("mallory", at0), lost: true, err: "it is held by mallory"},
		{name: "reread, created again", do: reread, during: createAgain, want: lease("ann", at0), lost: true, err: "it is held by ann"},
		{name: "reread, deleted", do: reread, during: remove, err: "kubectl-etcd-statefulset-main"},
		{name: "reread, refused", do: reread, refuse: http.MethodPut, want: lease("ann", at0), err: "refused by the test"},
		{name: "set a record", do: set, want: lease("ann", at0, "note", "a")},
		{name: "set a record, labelled", do: set, during: label, want: lease("ann", at0, "note", "a", "labels", seen)},
		{name: "set a record, taken over", do: set, during: takeOver, want: lease("mallory", at0), lost: true, err: "it is held by mallory"},
		{name: "set a record, created again", do: set, during: createAgain, want: lease("ann", at0), lost: true, err: "another client deleted it"},
		{name: "set a record, deleted", do: set, during: remove, lost: true, err: "another client deleted it"},
		{name: "set a record, refused", do: set, refuse: http.MethodPatch, want: lease("ann", at0), err: `write record "note" to lease team/`},
		{name: "set a record, invalid", do: set, refuse: http.MethodPatch, code: http.StatusUnprocessableEntity, want: lease("ann", at0), err: `write record "note" to lease team/`},
		{name: "remove a record", do: unset, during: record, want: lease("ann", at0)},
		{name: "remove a record, taken over", do: unset, during: takeOver, want: lease("mallory", at0), lost: true, err: "it is held by mallory"},
		{name: "remove a record, refused", do: unset, during: record, refuse: http.MethodPatch, want: lease("ann", at0, "note", "a"), err: `write record "note" to lease team/`},
		{name: "free", do: free},
		{name: "free, labelled", do: free, during: label, want: lease(nil, at0, "labels", seen)},
		{name: "free, taken over", do: free, during: takeOver, want: lease("mallory", at0)},
		{name: "free, created again", do: free, during: createAgain, want: lease("ann", at0)},
		{name: "free, deleted", do: free, during: remove},
		{name: "free, no permission to delete", do: free, refuse: http.MethodDelete, want: lease(nil, at0)},
		{name: "free with a record", do: freeWithRecord, during: record, want: lease(nil, at0, "note", "a")},
		{name: "free with a record, refused", do: freeWithRecord, during: record, refuse: http.MethodPut, want: lease("ann", at0, "note", "a"), err: "which ends by itself in 15s"},
		{name: "clear", do: clearHolder, want: lease(nil, at0)},
		{name: "clear, taken over", do: clearHolder, during: takeOver, want: lease("mallory", at0)},
		{name: "clear, created again", do: clearHolder, during: createAgain, want: lease("ann", at0)},
		{name: "clear, refused", do: clearHolder, refuse: http.MethodPut, want: lease("ann", at0), err: "refused by the test"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := apitest.New(t)
			l := held(t, s.Client(t), noon())
			if row.during != nil {
				row.during(s)
			}
			s.Refuse = func(method, _ string) int {
				if method == row.refuse {
					return stdcmp.Or(row.code, http.StatusForbidden)
				}
				return 0
			}
			err := row.do(t.Context(), l)
			if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("the error is %v, want %q", err, row.err)
			}
			if _, lost := errors.AsType[*LostError](err); lost != row.lost {
				t.Errorf("lost is %t: %v", lost, err)
			}
			if diff := cmp.Diff(row.want, state(s)); diff != "" {
				t.Errorf("the lease (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRenewAfterRecord: a record that was written on a lease of another process doesn't make its lock
// this one's.
func TestRenewAfterRecord(t *testing.T) {
	t.Parallel()
	s := apitest.New(t)
	l := held(t, s.Client(t), noon())
	takeOver(s)
	if err := l.patchRecord(t.Context(), "note", "a"); err == nil {
		t.Error("it was written without an error")
	}
	if _, lost := errors.AsType[*LostError](l.renew(t.Context())); !lost || identity(s) != "mallory" {
		t.Errorf("renewed: lost is %t, the lease is %q's", lost, identity(s))
	}
}

// TestPatchVersion: a record is written over one version of the lease only.
func TestPatchVersion(t *testing.T) {
	t.Parallel()
	s := apitest.New(t)
	l := held(t, s.Client(t), noon())
	stale := l.lease.DeepCopy()
	if _, err := l.patchVersion(t.Context(), stale, "note", "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := l.patchVersion(t.Context(), stale, "note", "b"); !apierrors.IsConflict(err) {
		t.Errorf("over an old version: %v", err)
	}
	if got, err := ReadRecords(t.Context(), s.Client(t), o); err != nil || got["note"] != "a" {
		t.Errorf("the records are %v: %v", got, err)
	}
}

// TestHolderPrintable: what another process has written about itself is safe to print.
func TestHolderPrintable(t *testing.T) {
	t.Parallel()
	s := apitest.New(t)
	put(s, "\x1b[2Jroot", early)
	s.Get(leasePath)["metadata"].(apitest.Object)["annotations"] = apitest.Object{OperationAnnotation: "scale\a", reasonAnnotation: "a\r\nb"} //nolint:forcetypeassert // as it was put
	h, err := ReadHolder(t.Context(), s.Client(t), o)
	if err != nil || h.Identity != "\ufffd[2Jroot" || h.Operation != "scale\ufffd" || h.Reason != "a b" {
		t.Errorf("%+v: %v", h, err)
	}
}
