// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BenchmarkHostileObjects measures how much memory the cache holds of each kind of object with a text of
// a mebibyte in every field that a tenant may write.
func BenchmarkHostileObjects(b *testing.B) {
	for what, o := range hostileObjects(strings.Repeat("x", 1<<20)) {
		b.Run(what, func(b *testing.B) {
			var cached []any
			before := heap()
			for b.Loop() {
				cached = append(cached, transformed(b, o.DeepCopyObject().(client.Object)))
			}
			b.ReportMetric(float64(heap()-before)/float64(len(cached)), "cached-B/object")
			runtime.KeepAlive(cached)
		})
	}
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func transformed(tb testing.TB, o client.Object) any {
	tb.Helper()
	for kind, by := range CacheOptions().ByObject {
		if reflect.TypeOf(kind) == reflect.TypeOf(o) {
			out, err := by.Transform(o)
			if err != nil {
				tb.Fatal(err)
			}
			return out
		}
	}
	tb.Fatalf("the cache has no %T", o)
	return nil
}
