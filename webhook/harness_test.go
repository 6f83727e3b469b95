// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"cmp"
	"context"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/prometheus/client_golang/prometheus"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// testSelf is the user of the controller.
const testSelf = "system:serviceaccount:kubectl-etcd-system:etcd-webhook"

// testIdentity is the replica that answers.
var testIdentity = Identity{Replica: "etcd-webhook-0", Version: "v1.2.3"}

// testNow is the time of every request.
var testNow = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// readerOf reads objects at testNow, when it sees their leases for the first time.
func readerOf(objects observetest.Objects) *observe.Reader {
	return &observe.Reader{Reader: objects, Leases: &leaseclock.Clock{Clock: testclock.NewFakePassiveClock(testNow)}}
}

// testServer has the registered webhooks by their paths.
type testServer map[string]*admission.Webhook

func (s testServer) Register(path string, h http.Handler) { s[path] = h.(*admission.Webhook) }

// serve registers the webhooks over objects.
func serve(tb testing.TB, objects observetest.Objects) testServer {
	tb.Helper()
	return register(tb, readerOf(objects), &liveObjects{objects: objects})
}

// acceptedPatches accepts every patch.
type acceptedPatches struct{}

func (acceptedPatches) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return nil
}

func register(tb testing.TB, r *observe.Reader, records RecordPatcher) testServer {
	tb.Helper()
	s := testServer{}
	if err := Register(s, Config{Reader: r, Self: testSelf, Identity: testIdentity, Records: records, StatefulSets: acceptedPatches{}, Metrics: prometheus.NewRegistry()}); err != nil {
		tb.Fatal(err)
	}
	return s
}

// entryOf returns the first handler and entry for writes of a resource, which may be a
// subresource as RESOURCE/SUBRESOURCE, by one of the operations. It returns false for none.
func entryOf(r metav1.GroupVersionResource, operations ...admissionregistrationv1.OperationType) (entries.Handler, entries.Entry, bool) {
	for _, h := range entries.Handlers {
		for _, e := range h.Entries {
			if calls(e, r, operations...) {
				return h, e, true
			}
		}
	}
	return entries.Handler{}, entries.Entry{}, false
}

// calls reports whether the API server calls an entry for one of the operations on a resource.
func calls(e entries.Entry, r metav1.GroupVersionResource, operations ...admissionregistrationv1.OperationType) bool {
	called := func(o admissionregistrationv1.OperationType) bool { return slices.Contains(e.Operations, o) }
	return e.Group == r.Group && e.Resource == r.Resource && slices.ContainsFunc(operations, called)
}

// handlerOf returns the handler that the API server calls for a request. If it calls several, it is the
// one whose name begins the request's UID, and otherwise the first. For an operation that no handler is
// called for it returns that of the resource, since fuzzing sends such requests.
func handlerOf(tb testing.TB, request admissionv1.AdmissionRequest) entries.Handler {
	tb.Helper()
	resource := request.Resource
	if request.SubResource != "" {
		resource.Resource += "/" + request.SubResource
	}
	operation := admissionregistrationv1.OperationType(request.Operation)
	for _, h := range entries.Handlers {
		if strings.HasPrefix(string(request.UID), h.Name) && slices.ContainsFunc(h.Entries, func(e entries.Entry) bool { return calls(e, resource, operation) }) {
			return h
		}
	}
	h, _, found := entryOf(resource, operation)
	if !found {
		h, _, found = entryOf(resource, allOperations...)
	}
	if !found {
		tb.Fatalf("no handler of webhook/entries is called for %s", resource)
	}
	return h
}

var allOperations = []admissionregistrationv1.OperationType{
	admissionregistrationv1.Create, admissionregistrationv1.Update, admissionregistrationv1.Delete,
}

// handle sends a request to the handler of its resource, and holds what is true of every
// response: the request passes unless the handler is a guard, the handler came to a decision,
// warnings are short, and a handler that patches is called again after other webhooks.
func (s testServer) handle(tb testing.TB, request admissionv1.AdmissionRequest) admission.Response {
	tb.Helper()
	h := handlerOf(tb, request)
	got := s[h.Path].Handle(tb.Context(), admission.Request{AdmissionRequest: request})
	if !got.Allowed && !h.Guard {
		tb.Fatalf("refused: %s\n%s", got.Result.Message, request.Object.Raw)
	}
	if got.AuditAnnotations[auditReason] == reasons.Undecided.Name() {
		tb.Fatalf("no decision: %s\n%s", got.Warnings, request.Object.Raw)
	}
	if len(got.Patches) > 0 && h.Reinvocation == "" {
		tb.Fatalf("%s patches: set its Reinvocation in webhook/entries, so that it is called again after other webhooks", h.Name)
	}
	for _, w := range got.Warnings {
		if len(w) > maxWarning && !strings.Contains(w, command) {
			tb.Fatalf("warning of %d characters: %q", len(w), w)
		}
	}
	return got
}

var (
	podResource     = metav1.GroupVersionResource{Version: "v1", Resource: "pods"}
	serviceResource = metav1.GroupVersionResource{Version: "v1", Resource: "services"}
	budgetResource  = metav1.GroupVersionResource{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"}
)

// generated is a random write.
type generated struct {
	resource metav1.GroupVersionResource
	// uid is of the requests. See handlerOf.
	uid types.UID
	// old is nil if the write creates the object.
	old, raw []byte
	// facts are the objects around it. Later are those around it when the API server calls
	// again, beside facts themselves.
	facts, later observetest.Objects
}

// review sends a write of an object to the handler.
func (g *generated) review(tb testing.TB, server testServer, old, raw []byte) admission.Response {
	tb.Helper()
	request := admissionv1.AdmissionRequest{
		UID: cmp.Or(g.uid, "u"), Operation: admissionv1.Create, Namespace: "db", Name: "main-client", Resource: g.resource,
		Object: runtime.RawExtension{Raw: raw}, OldObject: runtime.RawExtension{Raw: old},
	}
	if old != nil {
		request.Operation = admissionv1.Update
	}
	return server.handle(tb, request)
}

// patched sends 10,000 generated writes to their handler, and holds what every handler
// promises: its patch applies, and it changes nothing in an object that it has patched,
// neither when the API server calls again for the same request nor in the next write. check
// holds what is particular to a handler. It returns the number of writes by outcome and
// by reason. SEED repeats a run.
func patched(t *testing.T, generate func(*rand.Rand) generated, check func(g generated, mutated []byte, r admission.Response)) map[string]int {
	t.Helper()
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	counts := map[string]int{}
	for i := range 10_000 {
		g := generate(rng)
		server := serve(t, g.facts)
		first := g.review(t, server, g.old, g.raw)
		counts[first.AuditAnnotations[auditOutcome]]++
		counts[first.AuditAnnotations[auditReason]]++
		mutated := apply(t, g.raw, first)
		check(g, mutated, first)
		for _, again := range []testServer{server, serve(t, g.later)} {
			if second := g.review(t, again, g.old, mutated); len(second.Patches) > 0 {
				t.Errorf("changes again:\nfirst:  %s\nsecond: %s", first.Patch, second.Patch)
			}
		}
		if _, e, _ := entryOf(g.resource, admissionregistrationv1.Create, admissionregistrationv1.Update); len(first.Patches) > 0 && slices.Contains(e.Operations, "UPDATE") {
			if next := g.review(t, server, mutated, mutated); len(next.Patches) > 0 {
				t.Errorf("changes what it left:\nfirst: %s\nnext:  %s", first.Patch, next.Patch)
			}
		}
		if t.Failed() {
			t.Fatalf("write %d:\nold: %s\nnew: %s", i, g.old, g.raw)
		}
	}
	t.Log(counts)
	return counts
}

// apply returns an object with the response's patch.
func apply(t *testing.T, raw []byte, r admission.Response) []byte {
	t.Helper()
	if len(r.Patch) == 0 {
		return raw
	}
	p, err := jsonpatch.DecodePatch(r.Patch)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Apply(raw)
	if err != nil {
		t.Fatalf("patch does not apply: %v\n%s\n%s", err, r.Patch, raw)
	}
	return out
}
