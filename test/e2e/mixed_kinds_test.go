// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"io"
	"path/filepath"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// TestClusterOfAStatefulSetAndAPod has a cluster with two members in a StatefulSet and one in a single pod.
// Every target names all three, and a command that changes one StatefulSet is refused.
func TestClusterOfAStatefulSetAndAPod(t *testing.T) {
	operating(t, 3)
	if err := images.Push(t.Context(), programs.Cache{}, bed.Registry(), []string{images.Etcd("v3.6.16")}, io.Discard); err != nil {
		t.Fatal(err)
	}
	ns := namespace(t)
	retry(t, "a StatefulSet and a pod", func(ctx context.Context) error {
		return clusters.Kubectl(ctx, bed, t.Output(), "apply", "-n", ns, "-f", filepath.Join("testdata", "statefulset-and-pod.yaml"))
	})
	retry(t, "the members", func(ctx context.Context) error {
		return clusters.Kubectl(ctx, bed, t.Output(), "wait", "-n", ns, "--for=condition=Ready", "--timeout=10m", "pod/main-0", "pod/main-1", "pod/single")
	})
	for _, target := range []string{"statefulset/main", "pod/main-1", "pod/single", "single"} {
		prints(t, 0, []string{"3 of 3 voters healthy"}, "status", target, "-n", ns)
	}
	refuses(t, []string{"main and pod single", "kubectl etcd member add statefulset/main"}, "scale", "statefulset/main", "--replicas", "3", "-n", ns, "-y")
	refuses(t, []string{"main and pod single"}, "member", "replace", "statefulset/main", "main-1", "-n", ns, "-y")
}
