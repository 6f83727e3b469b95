// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// TestFixesThatRestart: a fix that changes a pod template restarts the members. It has the conditions under which that
// loses no data and no quorum.
func TestFixesThatRestart(t *testing.T) {
	t.Parallel()
	faults := map[string]func(*corev1.Container){
		"D005": func(c *corev1.Container) { c.Command = []string{"etcd", "--data-dir=/data/etcd"} },
		"W001": func(c *corev1.Container) { c.LivenessProbe.HTTPGet.Path = "/health" },
		"W002": func(c *corev1.Container) { c.ReadinessProbe = nil },
		"W004": func(c *corev1.Container) { c.Resources = corev1.ResourceRequirements{} },
		"W007": func(c *corev1.Container) { c.Image = "k8s.gcr.io/etcd:3.6.5" },
		"W008": func(c *corev1.Container) { c.Image = "etcd" },
	}
	inPods := func(f *Facts) {
		for _, p := range f.Pods.Value {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
		}
	}
	for id, fault := range faults {
		for _, state := range []struct {
			name  string
			with  func(*Facts)
			wants string
		}{
			{"a member is down", func(f *Facts) { crashing(f.Pods.Value[1]) }, "once all members are healthy, "},
			{"the data is in the pods", inPods, "only when the data is on persistent volumes (D006)"},
			{"several StatefulSets", spanning, "one StatefulSet at a time, and the next when all members are healthy again: "},
		} {
			t.Run(id+"/"+state.name, func(t *testing.T) {
				t.Parallel()
				f := healthy(3)
				state.with(f)
				sets := append([]*appsv1.StatefulSet{f.StatefulSet.Value}, f.Parts.Value...)
				for _, s := range sets {
					fault(&s.Spec.Template.Spec.Containers[0])
				}
				for _, p := range f.Pods.Value {
					fault(&p.Spec.Containers[0])
				}
				if id == "D005" {
					serving(func(c *etcdconf.Config) { c.AutoCompactionRetention = "" })(f)
				}
				checks, err := Selection{Only: []string{id}}.Checks()
				if err != nil {
					t.Fatal(err)
				}
				found := judged(t, checks, f)[0].Findings
				if len(found) == 0 {
					t.Fatal("it finds nothing")
				}
				for _, finding := range found {
					if !strings.Contains(finding.Fix, state.wants) {
						t.Errorf("%s\nthe fix: %s", finding.Message, finding.Fix)
					}
				}
			})
		}
	}
}
