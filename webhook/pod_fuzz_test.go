// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"math/rand/v2"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// FuzzRaw sends objects that no API server would send. The handlers let every one pass,
// don't panic, and keep their warnings short.
func FuzzRaw(f *testing.F) {
	for _, request := range recordedRequests(f, "*") {
		f.Add(request.Object.Raw)
	}
	for _, seed := range []string{
		"", "null", "[]", "5", `"x"`, "{", "{}", `{"spec":null,"metadata":null}`,
		`{"metadata":{"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"e","uid":"u","controller":true}]}}`,
		`{"metadata":{"name":"e-99999999999999999999","ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"e","uid":"u","controller":true}]},"spec":{"containers":[{}]}}`,
		`{"metadata":{"name":"e-2147483647","labels":{"app":"e"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"StatefulSet","name":"e","uid":"u","controller":true}]},"spec":{"containers":[{}],"Affinity":{}}}`,
		`{"metadata":{"name":"e-0","labels":{"app":"e"},"ownerReferences":[{"apiVersion":"///","kind":"StatefulSet","name":"e","uid":"u","controller":true}]},"spec":{"containers":[{}],"affinity":{"podAntiAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":[{"labelSelector":{"matchExpressions":[{"operator":"?"}]}}]}}}}`,
		`{"spec":{"replicas":2147483647,"template":{"spec":{"containers":[{"command":["etcd"]}]}},"volumeClaimTemplates":[{}]}}`,
	} {
		f.Add([]byte(seed))
	}
	objects := randomSurroundings(f, rand.New(rand.NewPCG(1, 1)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		server := serve(t, objects)
		for _, r := range []metav1.GroupVersionResource{
			podResource,
			{Group: "apps", Version: "v1", Resource: "statefulsets"},
			{Group: "druid.gardener.cloud", Version: "v1alpha1", Resource: "etcds"},
		} {
			request := admissionv1.AdmissionRequest{UID: "u", Namespace: "db", Operation: admissionv1.Create, Resource: r, Object: runtime.RawExtension{Raw: raw}}
			request.Kind.Group = r.Group
			server.handle(t, request)
		}
	})
}
