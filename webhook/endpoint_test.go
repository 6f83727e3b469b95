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
	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// decided is a handler with one answer. It panics without one.
type decided struct{ answer *Decision }

func (d decided) decide(context.Context, admission.Request) Decision { return *d.answer }

// response is a row: a request, what its handler answers, and the response.
type response struct {
	name    string
	handler entries.Handler
	request admissionv1.AdmissionRequest
	answer  *Decision
	code    int32
	status  metav1.StatusReason
	outcome Outcome
	reason  policy.Reason
}

// TestResponses holds the response to each kind of Decision. It goes through an endpoint and
// admission.Webhook, as a request of the API server does.
func TestResponses(t *testing.T) {
	t.Parallel()
	const message = "cannot evict etcd-main-0: etcd cluster etcd-main would have 1 healthy of 3 voters, quorum is 2"
	eviction := admissionv1.AdmissionRequest{UID: "u", Operation: admissionv1.Create, SubResource: "eviction", Name: "etcd-main-0", Kind: metav1.GroupVersionKind{Kind: "Eviction"}}
	deletion := admissionv1.AdmissionRequest{UID: "u", Operation: admissionv1.Delete, Name: "etcd-main-0", Kind: metav1.GroupVersionKind{Kind: "Pod"}}
	scale := admissionv1.AdmissionRequest{UID: "u", Operation: admissionv1.Update, SubResource: "scale", Name: "etcd-main", Kind: metav1.GroupVersionKind{Kind: "Scale"}}
	creation := admissionv1.AdmissionRequest{UID: "u", Operation: admissionv1.Create, Name: "etcd-main-0", Kind: metav1.GroupVersionKind{Kind: "Pod"}}
	guard := entries.Handler{Name: "guard", Limit: 1, Guard: true, FailurePolicy: admissionregistrationv1.Ignore}
	mutation := entries.Handler{Name: "mutation", Limit: 1, FailurePolicy: admissionregistrationv1.Ignore}
	closed := entries.Handler{Name: "closed", Limit: 1, FailurePolicy: admissionregistrationv1.Fail}
	deny := &Decision{Outcome: Denied, Reason: membership.QuorumWouldBeLost, Policy: "default", Message: message, Warnings: []string{"see the log"}, Patch: []jsonpatch.Operation{{}}}
	for _, row := range []response{
		{"eviction denied", guard, eviction, deny, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, Denied, membership.QuorumWouldBeLost},
		{"deletion denied", guard, deletion, deny, http.StatusForbidden, metav1.StatusReasonForbidden, Denied, membership.QuorumWouldBeLost},
		{"scale denied", guard, scale, deny, http.StatusForbidden, metav1.StatusReasonForbidden, Denied, membership.QuorumWouldBeLost},
		{"mutation denied", mutation, creation, deny, http.StatusForbidden, metav1.StatusReasonForbidden, Denied, membership.QuorumWouldBeLost},
		{"eviction undecided", guard, eviction, &Decision{}, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, Denied, reasons.Undecided},
		{"deletion undecided", guard, deletion, &Decision{}, http.StatusForbidden, metav1.StatusReasonForbidden, Denied, reasons.Undecided},
		{"mutation undecided", mutation, creation, &Decision{}, http.StatusOK, "", FailedOpen, reasons.Undecided},
		{"undecided with failurePolicy Fail", closed, creation, &Decision{}, http.StatusForbidden, metav1.StatusReasonForbidden, Denied, reasons.Undecided},
		{"eviction without a reason", guard, eviction, &Decision{Outcome: Unchanged}, http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests, Denied, reasons.Undecided},
		{"mutation without a reason", mutation, creation, &Decision{Outcome: Patched, Patch: []jsonpatch.Operation{{}}}, http.StatusOK, "", FailedOpen, reasons.Undecided},
		{"guard panics", guard, eviction, nil, http.StatusOK, "", FailedOpen, reasons.Undecided},
		{"mutation panics", mutation, creation, nil, http.StatusOK, "", FailedOpen, reasons.Undecided},
		{"panic with failurePolicy Fail", closed, creation, nil, http.StatusForbidden, metav1.StatusReasonForbidden, Denied, reasons.Undecided},
		{"warned", guard, eviction, &Decision{Outcome: Warned, Reason: reasons.PolicyWarns}, http.StatusOK, "", Warned, reasons.PolicyWarns},
		{"an outcome that does not exist", mutation, creation, &Decision{Outcome: "Other", Reason: reasons.Covered}, http.StatusForbidden, metav1.StatusReasonForbidden, "Other", reasons.Covered},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			m := newMetrics()
			wh := &admission.Webhook{Handler: &endpoint{entry: row.handler, handler: decided{row.answer}, clock: testclock.NewFakePassiveClock(testNow), metrics: m}}
			got := wh.Handle(t.Context(), admission.Request{AdmissionRequest: row.request})
			row.check(t, got)
			if row.reason == reasons.Undecided && !strings.Contains(got.Result.Message+strings.Join(got.Warnings, " "), row.request.Name) {
				t.Errorf("neither %q nor %q has the object's name", got.Result.Message, got.Warnings)
			}
			var counted dto.Metric
			if err := m.admissions.WithLabelValues(row.handler.Name, string(row.outcome), row.reason.Name()).Write(&counted); err != nil {
				t.Fatal(err)
			}
			if counted.GetCounter().GetValue() != 1 {
				t.Error("not counted under its outcome and reason")
			}
		})
	}
}

func (row *response) check(t *testing.T, got admission.Response) {
	t.Helper()
	if got.Allowed != (row.code == http.StatusOK) || got.Result.Code != row.code || got.Result.Reason != row.status || got.UID != "u" {
		t.Errorf("allowed %t, %+v", got.Allowed, got.Result)
	}
	if got.Result.Details != nil {
		t.Errorf("client-go retries silently by %+v", got.Result.Details)
	}
	want := map[string]string{auditOutcome: string(row.outcome), auditReason: row.reason.Name()}
	if row.answer != nil && row.answer.Policy != "" {
		want[auditPolicy] = row.answer.Policy
	}
	if diff := cmp.Diff(want, got.AuditAnnotations); diff != "" {
		t.Errorf("audit annotations (-want +got):\n%s", diff)
	}
	if row.answer != nil && row.answer.Outcome == Denied && (got.Result.Message != row.answer.Message || len(got.Patch) > 0 || len(got.Warnings) != 1) {
		t.Errorf("message %q, patch %s, warnings %q", got.Result.Message, got.Patch, got.Warnings)
	}
}

// TestZeroDecisionRefuses holds that respond alone refuses what was not decided.
func TestZeroDecisionRefuses(t *testing.T) {
	t.Parallel()
	if got := respond(admission.Request{}, Decision{}); got.Allowed || got.Result.Code != http.StatusForbidden {
		t.Errorf("allowed %t, %+v", got.Allowed, got.Result)
	}
}

// unreadableFacts is a Reader that panics as soon as it reads.
func unreadableFacts() *observe.Reader {
	return &observe.Reader{Leases: &leaseclock.Clock{Clock: testclock.NewFakePassiveClock(testNow)}}
}

// readingRequests has, for each handler, a request about which it reads facts. It is empty for a
// handler that reads none.
var readingRequests = map[string]string{
	entries.Pod: "pod-zones", entries.Owner: "owner-statefulset", entries.PodDisruptionBudget: "budget-below-quorum",
	entries.Scale: "scale-to-one", entries.Rollout: "rollout-by-hand-without-reason", entries.Eviction: "eviction-broken",
	entries.Uninstall: "uninstall-held", entries.Service: "",
}

// TestPanicFailsOpen holds that a request passes if reading the facts panics, for every
// webhook that reads facts.
func TestPanicFailsOpen(t *testing.T) {
	t.Parallel()
	server := register(t, unreadableFacts(), &liveObjects{})
	for _, entry := range entries.Handlers {
		name := entry.Name
		file, known := readingRequests[name]
		if !known {
			t.Errorf("handler %q is not in readingRequests: add a request of testdata about which it reads facts, or an empty text if it reads none", name)
		}
		if file == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, request := readRequest(t, "testdata/"+file+".request.yaml")
			h := handlerOf(t, *request)
			if h.Name != name {
				t.Fatalf("%s is about handler %s", file, h.Name)
			}
			wh := server[h.Path]
			var logged strings.Builder
			wh.LogConstructor = func(logr.Logger, *admission.Request) logr.Logger {
				return funcr.New(func(_, args string) { logged.WriteString(args) }, funcr.Options{})
			}
			got := wh.Handle(t.Context(), admission.Request{AdmissionRequest: *request})
			if !got.Allowed || got.UID != request.UID || len(got.Patch) > 0 {
				t.Errorf("allowed %t with UID %q and patch %q: %v", got.Allowed, got.UID, got.Patch, got.Result)
			}
			if got.AuditAnnotations[auditOutcome] != string(FailedOpen) {
				t.Errorf("annotated %v", got.AuditAnnotations)
			}
			if warned := strings.Join(got.Warnings, " "); !strings.Contains(warned, request.Name) {
				t.Errorf("warned %q", warned)
			}
			if log := logged.String(); !strings.Contains(log, "nil pointer") || !strings.Contains(log, "Handler).decide") {
				t.Errorf("the log has no stack of the panic: %q", log)
			}
		})
	}
}

// TestReviewsOutliveTheServersContext holds for every webhook that the end of the server
// doesn't cancel a review.
func TestReviewsOutliveTheServersContext(t *testing.T) {
	t.Parallel()
	server := register(t, unreadableFacts(), &liveObjects{})
	ended, end := context.WithCancel(t.Context())
	end()
	for _, h := range entries.Handlers {
		wh := server[h.Path]
		if wh == nil || wh.WithContextFunc == nil || wh.WithContextFunc(ended, nil).Err() != nil {
			t.Errorf("%s: a review ends with the server", h.Path)
		}
	}
	if len(server) != len(entries.Handlers) {
		t.Errorf("%d webhooks are registered for %d handlers", len(server), len(entries.Handlers))
	}
}

// TestEveryHandlerIsListed holds that Config has the handlers that the list has, and no others.
func TestEveryHandlerIsListed(t *testing.T) {
	t.Parallel()
	handlers := (Config{Reader: unreadableFacts()}).handlers()
	for _, h := range entries.Handlers {
		if handlers[h.Name] == nil {
			t.Errorf("webhook/entries lists the handler %q: add it to Config.handlers in webhook/webhook.go", h.Name)
		}
		delete(handlers, h.Name)
	}
	for name := range handlers {
		t.Errorf("Config.handlers has the handler %q: add it to Handlers in webhook/entries/entries.go", name)
	}
}
