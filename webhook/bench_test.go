// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// benchmarked are the requests that real clusters send most.
var benchmarked = []string{"pod-zones", "pod-not-etcd", "budget-druid-resets", "budget-not-etcd", "owner-statefulset"}

// BenchmarkDecode is the floor beneath the handlers: their object read once.
func BenchmarkDecode(b *testing.B) {
	_, request := readRequest(b, "testdata/"+benchmarked[0]+".request.yaml")
	for b.Loop() {
		var pod corev1.Pod
		if err := json.Unmarshal(request.Object.Raw, &pod); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHandlers answers one request of each kind, facts in memory.
func BenchmarkHandlers(b *testing.B) {
	for _, name := range benchmarked {
		b.Run(name, func(b *testing.B) {
			objects, request := readRequest(b, filepath.Join("testdata", name+".request.yaml"))
			kind, _, _ := strings.Cut(name, "-")
			wh := &admission.Webhook{Handler: handlers(readerOf(objects))[kind]}
			for b.Loop() {
				if !wh.Handle(b.Context(), admission.Request{AdmissionRequest: *request}).Allowed {
					b.Fatal("refused")
				}
			}
		})
	}
}
