// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observetest

import (
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
)

// ReadFile returns the objects of a manifest. addToScheme adds the kinds that are decoded.
func ReadFile(t *testing.T, addToScheme func(*runtime.Scheme) error, file string) Objects {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := addToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file) //nolint:gosec // a test names it
	if err != nil {
		t.Fatal(err)
	}
	objects, err := Parse(scheme, text)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}
