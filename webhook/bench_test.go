// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"encoding/json"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// benchmarked are the most frequent requests of real clusters.
var benchmarked = []string{
	"pod-zones", "pod-not-etcd", "budget-druid-resets", "budget-not-etcd", "owner-statefulset",
	"eviction-not-etcd", "eviction-other-workload", "eviction-allowed", "scale-unchanged", "scale-to-one",
}

// BenchmarkDecode decodes one object, the least that a handler does.
func BenchmarkDecode(b *testing.B) {
	_, request := readRequest(b, "testdata/"+benchmarked[0]+".request.yaml")
	for b.Loop() {
		var pod corev1.Pod
		if err := json.Unmarshal(request.Object.Raw, &pod); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkHandlers answers one request of each kind. Its facts are in memory, as the informers hold them.
func BenchmarkHandlers(b *testing.B) {
	for _, name := range benchmarked {
		b.Run(name, func(b *testing.B) {
			objects, request := readRequest(b, filepath.Join("testdata", name+".request.yaml"))
			server := serveCached(b, objects)
			for b.Loop() {
				server.handle(b, *request)
			}
		})
	}
}
