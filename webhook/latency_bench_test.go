// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// BenchmarkEvictionOfOthers sends reviews of evictions of pods that are no members over TLS, one after the
// other and on one connection as the API server does. p50-µs and p99-µs are what a client waits. The rest of
// ns/op is the same for every review: TLS, HTTP, and JSON on both sides.
func BenchmarkEvictionOfOthers(b *testing.B) {
	for _, name := range []string{"eviction-not-etcd", "eviction-other-workload"} {
		b.Run(name, func(b *testing.B) {
			objects, request := readRequest(b, "testdata/"+name+".request.yaml")
			path := handlerOf(b, *request).Path
			server := httptest.NewTLSServer(serveCached(b, objects)[path])
			b.Cleanup(server.Close)
			review, err := json.Marshal(admissionv1.AdmissionReview{
				TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request,
			})
			if err != nil {
				b.Fatal(err)
			}
			var took []time.Duration
			for b.Loop() {
				began := time.Now()
				send(b, server, path, review)
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			for unit, share := range map[string]float64{"p50-µs": 0.5, "p99-µs": 0.99} {
				b.ReportMetric(float64(took[int(share*float64(len(took)-1))].Nanoseconds())/1000, unit)
			}
		})
	}
}

// send posts a review, and requires that it is allowed.
func send(b *testing.B, server *httptest.Server, path string, review []byte) {
	b.Helper()
	response, err := server.Client().Post(server.URL+path, "application/json", bytes.NewReader(review))
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	var got admissionv1.AdmissionReview
	if err := json.NewDecoder(response.Body).Decode(&got); err != nil || response.StatusCode != http.StatusOK || !got.Response.Allowed {
		b.Fatalf("%d %v %+v", response.StatusCode, err, got.Response)
	}
}
