// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestVolumePod: the pod that reads a member's volume can't change it, and runs where the member's pod has it.
func TestVolumePod(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, pod string
		change    func(*operatetest.Cluster)
		node      string
		want      string // the refusal, empty for none
	}{
		{name: "beside the member", pod: "main-1", node: "node-1"},
		{name: "no pod", pod: "main-1", change: func(c *operatetest.Cluster) { c.Remove(operatetest.Path("Pod", "main-1")) }},
		{name: "one pod only", pod: "main-1", change: func(c *operatetest.Cluster) { onlyOnePod(c) }, want: "has the access mode ReadWriteOncePod, so no other pod can read it while main-1 exists"},
		{name: "one pod only, and it is gone", pod: "main-1", change: func(c *operatetest.Cluster) {
			onlyOnePod(c)
			c.Remove(operatetest.Path("Pod", "main-1"))
		}},
		{name: "no volume", pod: "main-1", change: func(c *operatetest.Cluster) {
			c.Get(operatetest.Path("PersistentVolumeClaim", "data-main-1"))["status"] = apitest.Object{"phase": "Lost"}
		}, want: "volume claim data-main-1 is Lost, and has no volume that could be read"},
		{name: "no member", pod: "main-9", want: "it has no member main-9: it has main-0, main-1 and main-2"},
	} {
		cluster := operatetest.NewCluster(t)
		operatetest.Field(cluster.Get(operatetest.Path("Pod", "main-1")), "spec")["nodeName"] = "node-1"
		cluster.Get(operatetest.Path("PersistentVolumeClaim", "data-main-1"))["status"] = apitest.Object{"phase": "Bound"}
		if row.change != nil {
			row.change(cluster)
		}
		kube := cluster.Client(t)
		reader := &observe.Reader{Reader: kube, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
		v, err := Plan{Owner: foundIn(t, cluster, 3).Owner}.VolumePodOf(t.Context(), kube, reader, row.pod, "busybox")
		if (err != nil) != (row.want != "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
		if err != nil {
			continue
		}
		reads(t, row.name, v, row.node)
	}
}

// reads requires a pod that only reads, and that ends.
func reads(t *testing.T, name string, v VolumePod, node string) {
	t.Helper()
	var pod corev1.Pod
	if err := yaml.UnmarshalStrict([]byte(v.Manifest), &pod); err != nil {
		t.Fatal(err)
	}
	if pod.Name != "main-1-restore-volume" || pod.Spec.NodeName != node || v.DataDir == "" || v.Member != "main-1" {
		t.Errorf("%s: %+v", name, v)
	}
	if pod.Spec.ActiveDeadlineSeconds == nil {
		t.Errorf("%s: the pod runs for ever", name)
	}
	for _, v := range pod.Spec.Volumes {
		if !v.PersistentVolumeClaim.ReadOnly {
			t.Errorf("%s: the kubelet can change the files of %s", name, v.PersistentVolumeClaim.ClaimName)
		}
	}
	for _, m := range pod.Spec.Containers[0].VolumeMounts {
		if !m.ReadOnly {
			t.Errorf("%s: the pod can write to %s", name, m.MountPath)
		}
	}
}

func onlyOnePod(c *operatetest.Cluster) {
	operatetest.Field(c.Get(operatetest.Path("PersistentVolumeClaim", "data-main-1")), "spec")["accessModes"] = []any{"ReadWriteOncePod"}
}
