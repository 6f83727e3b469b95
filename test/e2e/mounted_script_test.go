// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// TestMountedScript recognizes members that a script from a ConfigMap starts with the variables
// of envFrom. The script sources another script, which adds and removes members. Therefore the
// plugin refuses to do so.
func TestMountedScript(t *testing.T) {
	operating(t, 3)
	if err := images.Push(t.Context(), programs.Cache{}, bed.Registry(), []string{images.Etcd("v3.6.16"), images.Alpine}, io.Discard); err != nil {
		t.Fatal(err)
	}
	ns := namespace(t)
	if err := clusters.Kubectl(t.Context(), bed, t.Output(), "apply", "-n", ns, "-f", filepath.Join("testdata", "mounted_script.yaml")); err != nil {
		t.Fatal(err)
	}
	eventually(t, "three members", func(ctx context.Context) (string, bool, error) {
		var sts appsv1.StatefulSet
		err := kube.Get(ctx, client.ObjectKey{Namespace: ns, Name: "etcd"}, &sts)
		return fmt.Sprintf("%d members are Ready", sts.Status.ReadyReplicas), sts.Status.ReadyReplicas == 3, err
	})
	prints(t, 0, []string{"etcd", "plain", "3/3"}, "list", "-n", ns)
	prints(t, 0, []string{"healthy", "etcd-0", "etcd-1", "etcd-2"}, "status", "etcd", "-n", ns)
	const why = "the start script of container etcd (etcdctl member add) "
	refuses(t, []string{why + "adds and removes its members", "kubectl scale statefulset etcd --replicas N -n " + ns}, "scale", "etcd", "--replicas", "5", "-n", ns)
	refuses(t, []string{why + "adds and removes its members"}, "scale", "etcd", "--replicas", "1", "-n", ns)
	refuses(t, []string{why + "manages the members"}, "member", "replace", "statefulset/etcd", "etcd-1", "-n", ns)
}
