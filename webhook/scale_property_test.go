// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestScaleWays writes every number of replicas of a cluster of three in each way that a client
// has: the object as a whole, and its scale subresource, which omits 0.
func TestScaleWays(t *testing.T) {
	t.Parallel()
	objects, _ := readRequest(t, "testdata/scale-to-one.request.yaml")
	server := serve(t, objects)
	const voters = 3
	for asked := range 6 {
		refused := asked > 0 && asked < voters // no budget records them
		for way, request := range scaleRequests(voters, asked) {
			got := server.handle(t, request)
			if got.Allowed == refused {
				t.Errorf("%s to %d: allowed %t: %v", way, asked, got.Allowed, got.Result)
			}
			if len(got.Patches) > 0 {
				t.Errorf("%s to %d: patched %v", way, asked, got.Patches)
			}
			if quiet := asked == voters; quiet == (len(got.Warnings) > 0) && !refused {
				t.Errorf("%s to %d: warned %q", way, asked, got.Warnings)
			}
		}
	}
}

// scaleRequests returns a write of the replicas of StatefulSet db/plain in each way.
func scaleRequests(now, asked int) map[string]admissionv1.AdmissionRequest {
	object := func(n int) []byte {
		return fmt.Appendf(nil, `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"plain","namespace":"db"},"spec":{"replicas":%d}}`, n)
	}
	scale := func(n int) []byte {
		if n == 0 {
			return []byte(`{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"plain","namespace":"db"},"spec":{}}`)
		}
		return fmt.Appendf(nil, `{"apiVersion":"autoscaling/v1","kind":"Scale","metadata":{"name":"plain","namespace":"db"},"spec":{"replicas":%d}}`, n)
	}
	request := func(sub string, of func(int) []byte) admissionv1.AdmissionRequest {
		return admissionv1.AdmissionRequest{
			UID: "u", Operation: admissionv1.Update, Namespace: "db", Name: "plain", SubResource: sub,
			Resource: metav1.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"},
			Object:   runtime.RawExtension{Raw: of(asked)}, OldObject: runtime.RawExtension{Raw: of(now)},
		}
	}
	return map[string]admissionv1.AdmissionRequest{"update": request("", object), "scale": request("scale", scale)}
}

// FuzzScale sends objects that no API server would send. What can't be read passes.
func FuzzScale(f *testing.F) {
	for _, request := range recordedRequests(f, "scale-*") {
		f.Add(request.OldObject.Raw, request.Object.Raw, request.SubResource == "scale")
	}
	for _, seed := range []string{"", "null", "[]", "{", `{"spec":null}`, `{"spec":{"replicas":-1}}`, `{"spec":{"replicas":1e9}}`, `{"metadata":{"annotations":{"kubectl-etcd.dev/size":7}}}`} {
		f.Add([]byte(seed), []byte(`{"spec":{"replicas":1}}`), true)
		f.Add([]byte(`{"spec":{"replicas":3}}`), []byte(seed), false)
	}
	objects, _ := readRequest(f, "testdata/scale-to-one.request.yaml")
	server := serve(f, objects)
	f.Fuzz(func(t *testing.T, old, raw []byte, sub bool) {
		for way, request := range scaleRequests(3, 1) {
			if (way == "scale") == sub {
				request.OldObject.Raw, request.Object.Raw = old, raw
				server.handle(t, request)
			}
		}
	})
}
