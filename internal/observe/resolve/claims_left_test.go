// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestClaimsLeft holds that a target without its StatefulSet gets the claims that it left, and no others.
func TestClaimsLeft(t *testing.T) {
	t.Parallel()
	const claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: a, name: %s}\n---\n"
	var objects strings.Builder
	for _, name := range []string{"data-main-0", "data-main-1", "wal-main-0", "data-main-01", "data-main-x", "main-0", "data-b-main-0", "data-mainly-0", "data-c-store-0", "data-other-0"} {
		fmt.Fprintf(&objects, claim, name)
	}
	fmt.Fprint(&objects, "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: z, name: data-main-2}\n---\n")
	fmt.Fprint(&objects, "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: a, name: data-main-3, deletionTimestamp: 2026-01-01T00:00:00Z, finalizers: [x]}\n---\n")
	for _, name := range []string{"b-main", "c-store", "other"} {
		fmt.Fprintf(&objects, "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {namespace: a, name: %s}\nspec: {volumeClaimTemplates: [{metadata: {name: data}}]}\n---\n", name)
	}
	scheme := runtime.NewScheme()
	if err := observe.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	all, err := observetest.Parse(scheme, []byte(objects.String()))
	if err != nil {
		t.Fatal(err)
	}
	r := &observe.Reader{Reader: all}
	for target, want := range map[string]string{
		"main": "data-main-0, data-main-1 and wal-main-0", "sts/main": "data-main-0, data-main-1 and wal-main-0", "etcd/main": "data-main-0, data-main-1 and wal-main-0",
		"svc/main": "", "store": "", "other": "", "nothing": "", "ma.n": "",
	} {
		parsed, err := owner.ParseTarget(target)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Target(t.Context(), r, "a", parsed)
		missing, is := errors.AsType[*NotFoundError](err)
		if !is {
			t.Fatalf("%s: %v, want that it is not found", target, err)
		}
		if got := strings.Contains(missing.Error(), "volume claims "+want+" have"); want != "" && !got || want == "" && strings.Contains(missing.Error(), "claims") {
			t.Errorf("%s: %v, want claims %q", target, missing, want)
		}
	}
}
