// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// TestSizeBehindLauncher has a StatefulSet with one member. If its program, which is not etcd's, may give etcd a list of members, then
// the size is not known, and the note has the command that ends that. Nothing but a list or the size ends it: which container it is
// shows no members.
func TestSizeBehindLauncher(t *testing.T) {
	t.Parallel()
	const way = `kubectl etcd member list statefulset/db -n team shows, run: kubectl annotate --overwrite statefulset/db -n team kubectl-etcd.dev/size="N at $(date -u +%FT%TZ)"`
	for _, row := range []struct {
		what    string
		change  func(*appsv1.StatefulSet, *corev1.Container)
		unknown string
	}{
		{"etcd itself", func(_ *appsv1.StatefulSet, c *corev1.Container) { c.Command = []string{"etcd"} }, ""},
		{"an image called etcd", func(_ *appsv1.StatefulSet, c *corev1.Container) { c.Image = "quay.io/coreos/etcd:v3.6.5" }, ""},
		{"another image", func(_ *appsv1.StatefulSet, _ *corev1.Container) {}, "what the image gives to etcd is only known in the pod"},
		{"another image, and a declared container", func(s *appsv1.StatefulSet, c *corev1.Container) {
			s.Annotations = map[string]string{v1alpha1.EtcdAnnotation: c.Name}
		}, "what the image gives to etcd is only known in the pod"},
		{"another image, and a list", func(_ *appsv1.StatefulSet, c *corev1.Container) {
			c.Env = append(c.Env, corev1.EnvVar{Name: "ETCD_INITIAL_CLUSTER", Value: "db-0=http://db-0:2380"})
		}, ""},
		{"another image with etcd as the argument", func(_ *appsv1.StatefulSet, c *corev1.Container) {
			c.Args = []string{"etcd", "--name=db-0", "--listen-peer-urls=http://0.0.0.0:2380"}
		}, "what the image gives to etcd is only known in the pod"},
		{"another image with a member's flags", func(_ *appsv1.StatefulSet, c *corev1.Container) {
			c.Env, c.Args = nil, []string{"--listen-peer-urls=http://0.0.0.0:2380"}
		}, "what the image gives to etcd is only known in the pod"},
		{"another image with etcd as the argument, and a list", func(_ *appsv1.StatefulSet, c *corev1.Container) {
			c.Args = []string{"etcd", "--name=db-0", "--initial-cluster=db-0=http://db-0:2380"}
		}, ""},
		{"another image with etcd behind a launcher", func(_ *appsv1.StatefulSet, c *corev1.Container) {
			c.Args = []string{"tini", "--", "/usr/bin/etcd", "--name=db-0", "--listen-peer-urls=http://0.0.0.0:2380"}
		}, "what the image gives to etcd is only known in the pod"},
		{"a mirror of etcd's image with etcd as the argument", func(_ *appsv1.StatefulSet, c *corev1.Container) {
			c.Image, c.Args = "rancher/mirrored-coreos-etcd:v3.5.21", []string{"etcd", "--name=db-0", "--listen-peer-urls=http://0.0.0.0:2380"}
		}, ""},
		{"another image, and the declared size", func(s *appsv1.StatefulSet, _ *corev1.Container) {
			s.Annotations = map[string]string{v1alpha1.SizeAnnotation: "1 at 2026-01-31T12:00:00Z"}
		}, ""},
	} {
		sts := observetest.EtcdSet("db/1")
		c := &sts.Spec.Template.Spec.Containers[0]
		c.Image, c.Command, c.Args = "acme/db:1", nil, nil
		c.Env = []corev1.EnvVar{{Name: "ETCD_NAME", Value: "db-0"}, {Name: "ETCD_LISTEN_PEER_URLS", Value: "http://0.0.0.0:2380"}, {Name: "ETCD_LISTEN_CLIENT_URLS", Value: "http://0.0.0.0:2379"}}
		row.change(sts, c)
		r := &observe.Reader{Reader: observetest.Objects{sts}, NoEtcds: func() bool { return true }, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
		owners, err := r.Clusters(t.Context())
		if err != nil || len(owners) != 1 {
			t.Fatalf("%s: %v, %v", row.what, owners, err)
		}
		f, err := r.Facts(t.Context(), owners[0])
		noted := ""
		for _, n := range f.Notes {
			if n.Reason == policy.SizeUnknown {
				noted = n.Message
			}
		}
		if err != nil || (f.Cluster.SizeUnknown == "") != (row.unknown == "") || !strings.Contains(f.Cluster.SizeUnknown, row.unknown) ||
			strings.Contains(noted, way) != (row.unknown != "") {
			t.Errorf("%s: unknown for %q, noted %q, %v", row.what, f.Cluster.SizeUnknown, noted, err)
		}
	}
}
