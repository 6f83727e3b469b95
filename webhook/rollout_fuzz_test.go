// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// FuzzRollout sends StatefulSets that no API server would send, to be created and to be updated. The
// handler refuses none and doesn't panic.
func FuzzRollout(f *testing.F) {
	for _, request := range recordedRequests(f, "rollout-*") {
		f.Add(request.OldObject.Raw, request.Object.Raw)
	}
	for _, seed := range []string{
		"", "null", "[]", "{", `{"spec":null}`, `{"spec":{"replicas":-1,"selector":{"matchExpressions":[{"operator":"?"}]}}}`,
		`{"metadata":{"annotations":{"kubectl-etcd.dev/rollout-value":"partition=2147483647"}},"spec":{"replicas":2147483647}}`,
		`{"spec":{"updateStrategy":{"type":"?","rollingUpdate":{"partition":-3}}}}`,
	} {
		f.Add([]byte(seed), []byte(`{"spec":{"replicas":1}}`))
		f.Add([]byte(`{"spec":{"replicas":3}}`), []byte(seed))
	}
	objects, _ := readRequest(f, "testdata/rollout-created-over-pods.request.yaml")
	server := serve(f, objects)
	f.Fuzz(func(t *testing.T, old, raw []byte) {
		for _, operation := range []admissionv1.Operation{admissionv1.Create, admissionv1.Update} {
			request := admissionv1.AdmissionRequest{
				UID: entries.Rollout, Operation: operation, Namespace: "db", Name: "plain",
				Resource: metav1.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"},
				Object:   runtime.RawExtension{Raw: raw},
			}
			if operation == admissionv1.Update {
				request.OldObject.Raw = old
			}
			if r := server.handle(t, request); !r.Allowed {
				t.Errorf("%s of %s is refused: %+v", operation, raw, r.Result)
			}
		}
	})
}
