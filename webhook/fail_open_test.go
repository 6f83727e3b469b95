// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	testclock "k8s.io/utils/clock/testing"
	ctrl "sigs.k8s.io/controller-runtime"
	webhookserver "sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// paths is a server that only remembers what is registered, managed that of it alone.
type (
	paths struct {
		webhookserver.Server

		at map[string]http.Handler
	}
	managed struct {
		ctrl.Manager

		server paths
	}
)

func (p paths) Register(path string, h http.Handler)     { p.at[path] = h }
func (m managed) GetWebhookServer() webhookserver.Server { return m.server }

// TestPanicFailsOpen: what is answered by all that is registered when reading the
// facts panics, as it does with a Reader that has nothing to read from.
func TestPanicFailsOpen(t *testing.T) {
	t.Parallel()
	mgr := managed{server: paths{at: map[string]http.Handler{}}}
	r := &observe.Reader{Leases: &observe.LeaseClock{Clock: testclock.NewFakePassiveClock(testNow)}}
	if err := Register(mgr, r, testSelf, testIdentity); err != nil {
		t.Fatal(err)
	}
	for path, file := range map[string]string{
		PodPath: "pod-zones", OwnerPath: "owner-statefulset", BudgetPath: "budget-below-quorum",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			wh, ok := mgr.server.at[path].(*admission.Webhook)
			if !ok {
				t.Fatalf("nothing answers at %s", path)
			}
			var logged strings.Builder
			wh.LogConstructor = func(logr.Logger, *admission.Request) logr.Logger {
				return funcr.New(func(_, args string) { logged.WriteString(args) }, funcr.Options{})
			}
			_, request := readRequest(t, "testdata/"+file+".request.yaml")
			got := wh.Handle(t.Context(), admission.Request{AdmissionRequest: *request})
			if !got.Allowed || got.UID != request.UID || len(got.Patch) > 0 {
				t.Errorf("allowed %t with UID %q and patch %q: %v", got.Allowed, got.UID, got.Patch, got.Result)
			}
			if got.AuditAnnotations["outcome"] != string(failedOpen) {
				t.Errorf("annotated %v", got.AuditAnnotations)
			}
			if said := strings.Join(got.Warnings, " "); !strings.Contains(said, request.Name+" passes as it is") {
				t.Errorf("warned %q", said)
			}
			if log := logged.String(); !strings.Contains(log, "nil pointer") || !strings.Contains(log, "internal/observe") {
				t.Errorf("the log hasn't where it panicked: %q", log)
			}
		})
	}
}

// TestReviewsEndByThemselves: what is in hand when the server ends isn't cut off, whatever
// is registered.
func TestReviewsEndByThemselves(t *testing.T) {
	t.Parallel()
	mgr := managed{server: paths{at: map[string]http.Handler{}}}
	r := &observe.Reader{Leases: &observe.LeaseClock{Clock: testclock.NewFakePassiveClock(testNow)}}
	if err := Register(mgr, r, testSelf, Identity{Replica: "etcd-webhook-0"}); err != nil {
		t.Fatal(err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for path, h := range mgr.server.at {
		w, ok := h.(*admission.Webhook)
		if !ok || w.WithContextFunc == nil || w.WithContextFunc(ended, nil).Err() != nil {
			t.Errorf("%s: a review ends with the server", path)
		}
	}
}
