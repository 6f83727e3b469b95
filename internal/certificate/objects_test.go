// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestWriteImmutableSecret checks that the error names the remedy for an immutable Secret, and
// no remedy for another failure.
func TestWriteImmutableSecret(t *testing.T) {
	t.Parallel()
	const remedy = "kubectl delete secret certs -n here"
	for want, answer := range map[bool]*apierrors.StatusError{
		true:  apierrors.NewInvalid(schema.GroupKind{Kind: "Secret"}, "certs", nil),
		false: apierrors.NewForbidden(schema.GroupResource{Resource: "secrets"}, "certs", nil),
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(int(answer.ErrStatus.Code))
			_ = json.NewEncoder(w).Encode(answer.ErrStatus) // the client fails without it
		}))
		a := &apiServer{client: must(kubernetes.NewForConfig(&rest.Config{Host: server.URL})), namespace: "here", secretName: "certs"}
		s := &corev1.Secret{}
		s.Name, s.ResourceVersion = "certs", "1"
		err := a.writeSecret(t.Context(), s)
		server.Close()
		if err == nil || strings.Contains(err.Error(), remedy) != want || apierrors.IsInvalid(err) != want {
			t.Errorf("answered %v, it returns %v", answer, err)
		}
	}
}
