// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// TestServiceIdempotent lets random people write random Services. A cut that
// holds is never lost but by a value that ends it, no value comes in that can't
// be read, nothing but the one key changes, and called again the handler
// changes nothing. SEED repeats a run.
func TestServiceIdempotent(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	outcomes := map[string]int{}
	for i := range 10_000 {
		old, raw := randomService(t, rng), randomService(t, rng)
		first := reviewService(t, old, raw)
		outcomes[first.AuditAnnotations["reason"]]++
		mutated := apply(t, raw, first)
		checkService(t, old, raw, mutated)
		if second := reviewService(t, old, mutated); len(second.Patches) > 0 {
			t.Errorf("changes again:\nfirst:  %s\nsecond: %s", first.Patch, second.Patch)
		}
		if next := reviewService(t, mutated, mutated); len(next.Patches) > 0 && len(first.Patches) > 0 {
			t.Errorf("changes what it left:\nfirst: %s\nnext:  %s", first.Patch, next.Patch)
		}
		if t.Failed() {
			t.Fatalf("Service %d:\nold: %s\nnew: %s", i, old, raw)
		}
	}
	t.Log(outcomes)
	if outcomes[reasonCutKept] < 500 || outcomes[reasonCutUnreadable] < 500 {
		t.Error("the generator has lost its way")
	}
}

func checkService(t *testing.T, old, raw, mutated []byte) {
	t.Helper()
	before, wrote, after := decodeService(t, old), decodeService(t, raw), decodeService(t, mutated)
	selector, left := observe.Uncut(wrote), observe.Uncut(after)
	if !maps.Equal(selector, left) {
		t.Errorf("the rest of the selector changed from %v to %v", selector, left)
	}
	rest := after.DeepCopy()
	wrote.Spec.Selector, rest.Spec.Selector = nil, nil
	if diff := cmp.Diff(wrote, rest); diff != "" {
		t.Errorf("something else changed:\n%s", diff)
	}
	if after.Spec.ClusterIP == corev1.ClusterIPNone {
		return
	}
	_, readable := observe.CutUntil(after)
	if value, has := after.Spec.Selector[v1alpha1.ClientTrafficKey]; has && !readable {
		t.Errorf("it now says %q", value)
	}
	if until, cut := observe.CutUntil(before); cut && until.After(testNow) && !readable {
		t.Error("the cut is lost")
	}
}

func decodeService(t *testing.T, raw []byte) *corev1.Service {
	t.Helper()
	var s corev1.Service
	if err := json.Unmarshal(raw, &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

func reviewService(tb testing.TB, old, raw []byte) admission.Response {
	tb.Helper()
	wh := &admission.Webhook{Handler: Service(testclock.NewFakePassiveClock(testNow), testSelf)}
	got := wh.Handle(tb.Context(), admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		UID: "u", Operation: admissionv1.Update, Namespace: "db", Name: "main-client",
		Object: runtime.RawExtension{Raw: raw}, OldObject: runtime.RawExtension{Raw: old},
	}})
	if !got.Allowed {
		tb.Fatalf("refused: %s\n%s", got.Result.Message, raw)
	}
	for _, w := range got.Warnings {
		if len(w) > maxWarning {
			tb.Fatalf("warning of %d characters: %q", len(w), w)
		}
	}
	return got
}

func randomService(t *testing.T, rng *rand.Rand) []byte {
	t.Helper()
	selector := map[string]string{}
	for _, key := range []string{"app", "app.kubernetes.io/part-of"} {
		if rng.IntN(3) > 0 {
			selector[key] = strconv.Itoa(rng.IntN(3))
		}
	}
	if rng.IntN(4) > 0 {
		selector[v1alpha1.ClientTrafficKey] = []string{
			observe.CutValue(testNow.Add(900e9)), observe.CutValue(testNow.Add(1e9)), observe.CutValue(testNow),
			"cut-until-0", "cut-until--7", "cut-until-", "cut-until-1e9", "cut-until-99999999999999999999", "disabled", "",
		}[rng.IntN(10)]
	}
	service := map[string]any{
		"apiVersion": "v1", "kind": "Service",
		"metadata": map[string]any{"name": "main-client", "namespace": "db", "labels": map[string]string{"n": fmt.Sprint(rng.IntN(2))}},
		"spec":     map[string]any{"clusterIP": []string{"10.96.0.7", "10.96.0.7", "10.96.0.7", "None"}[rng.IntN(4)], "selector": selector, "ports": []any{map[string]any{"port": 2379}}},
	}
	if len(selector) == 0 && rng.IntN(2) == 0 {
		delete(service["spec"].(map[string]any), "selector")
	}
	raw, err := json.Marshal(service)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// FuzzService feeds the handler what no API server would send. Whatever it is,
// it is allowed.
func FuzzService(f *testing.F) {
	files, err := filepath.Glob("testdata/service-*.request.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		_, request := readRequest(f, file)
		f.Add(request.OldObject.Raw, request.Object.Raw)
	}
	for _, seed := range []string{"", "null", "[]", "{", `{"spec":{"selector":null}}`, `{"spec":{"selector":{"kubectl-etcd.dev/client-traffic":7}}}`} {
		f.Add([]byte(seed), []byte(`{"spec":{"selector":{"app":"plain"}}}`))
		f.Add([]byte(nil), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, old, raw []byte) { reviewService(t, old, raw) })
}
