// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// TestServiceIdempotent writes random Services. A cut that has not expired is lost only to a
// value that ends it, no value is accepted that can't be read, only the one key changes, and
// nothing changes when the handler is called again or in the next write.
func TestServiceIdempotent(t *testing.T) {
	t.Parallel()
	generate := func(rng *rand.Rand) generated {
		return generated{resource: serviceResource, old: randomService(t, rng), raw: randomService(t, rng)}
	}
	counts := patched(t, generate, func(g generated, mutated []byte, _ admission.Response) {
		checkService(t, g.old, g.raw, mutated)
	})
	if counts[reasons.CutKept.Name()] < 500 || counts[reasons.CutUnreadable.Name()] < 500 {
		t.Errorf("of 10,000 Services %d kept their cut and %d had an unreadable one: check the generator", counts[reasons.CutKept.Name()], counts[reasons.CutUnreadable.Name()])
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
	_, readable := observe.CutUntil(after, testNow)
	if value, has := after.Spec.Selector[v1alpha1.ClientTrafficKey]; has && !readable {
		t.Errorf("its value can't be read: %q", value)
	}
	if until, cut := observe.CutUntil(before, testNow); cut && until.After(testNow) && !readable {
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

// FuzzService sends Services that no API server would send. The handler lets every one pass.
func FuzzService(f *testing.F) {
	for _, request := range recordedRequests(f, "service-*") {
		f.Add(request.OldObject.Raw, request.Object.Raw)
	}
	for _, seed := range []string{"", "null", "[]", "{", `{"spec":{"selector":null}}`, `{"spec":{"selector":{"kubectl-etcd.dev/client-traffic":7}}}`} {
		f.Add([]byte(seed), []byte(`{"spec":{"selector":{"app":"plain"}}}`))
		f.Add([]byte(nil), []byte(seed))
	}
	f.Fuzz(func(t *testing.T, old, raw []byte) {
		g := generated{resource: serviceResource}
		g.review(t, serve(t, nil), old, raw)
	})
}
