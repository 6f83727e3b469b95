// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
)

func TestSnapshots(t *testing.T) {
	t.Parallel()
	c, err := At(nowhere(t.TempDir()), "demo", "main", Spec{Flavour: Druid})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := c.Snapshots(); err != nil || len(got) != 0 {
		t.Fatalf("Snapshots() of no store = %q, %v", got, err)
	}
	if err := os.MkdirAll(c.StoreDir(), 0o700); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"Full-00000000-00000001-1795159796.gz",
		"Incr-00000002-00000039-1795160677.gz",
		"Full-00000000-00000039-1795161033.gz",
		"Incr-00000040-00000040-1795161099.gz",
	}
	for _, name := range append(want, ".tmp", "lost+found") {
		if err := os.WriteFile(filepath.Join(c.StoreDir(), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := c.Snapshots()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Snapshots() (-want +got):\n%s", diff)
	}
}

// nowhere is a testbed that only has a shared directory.
type nowhere string

func (nowhere) RESTConfig() (*rest.Config, error) { return &rest.Config{}, nil }
func (nowhere) Kubeconfig() string                { return "" }
func (nowhere) Kubectl() string                   { return "" }
func (nowhere) Registry() string                  { return "" }
func (n nowhere) Shared() string                  { return string(n) }
