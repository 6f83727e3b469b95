// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// FuzzParsePod holds that no pod makes the reading of its configuration panic or
// run for ever.
func FuzzParsePod(f *testing.F) {
	for _, script := range []string{
		"exec etcd --name ${HOSTNAME} \\\n --data-dir=/d", "A=`hostname` etcd --name=\"$A\"", "etcd ${", "etcd \"$(", "$@ etcd $@",
		"if x; then ETCD_NAME=1; fi; etcd", "etcd '", "etcd \\", "etcd ${X##*-} ${Y:-$Z} 2>", "etcd --config-file=/c --name",
		"a() { a; b; }; b() { a; }; a; exec nice -n 1 $E", "case $1 in etcd) etcd ;; *) exec \"$@\" ;; esac", "E=etcd; while ! $E; do timeout; done",
	} {
		f.Add(script, "--name", "$(A)$$(B)$(", "name: x", "c")
	}
	f.Add("\x00etcd", "etcd", "", "", "false")
	f.Fuzz(func(t *testing.T, script, arg, value, file, declared string) {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "a-0", Namespace: "n"},
			Spec: corev1.PodSpec{
				Containers: []corev1.Container{{
					Env: []corev1.EnvVar{
						{Name: "A", Value: value}, {Name: "ETCD_NAME", Value: "$(A)"}, {Name: "ETCD_DATA_DIR", Value: "/d"},
					},
					VolumeMounts: []corev1.VolumeMount{{Name: "c", MountPath: "/"}},
				}},
				Volumes: []corev1.Volume{{Name: "c", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}}},
			},
		}
		contents := func(string, string) (map[string][]byte, error) { return map[string][]byte{"c": []byte(file)}, nil }
		c := &pod.Spec.Containers[0]
		c.Command, c.Args = []string{"sh", "-c", script}, []string{arg}
		_, _ = ParsePod(pod, contents)
		c.Command, c.Args = []string{"etcd"}, []string{arg, script}
		_, _ = ParsePod(pod, contents)
		c.Command, c.Args = nil, []string{"start-etcd", arg}
		_, _ = ParsePod(pod, contents)
		c.Name = "c"
		pod.Annotations = map[string]string{v1alpha1.EtcdAnnotation: declared}
		_, err := ParsePod(pod, contents)
		if m := MemberOf(pod); (m.Container != nil) != (declared == "c") || (declared == v1alpha1.NotEtcd) != (m.Err == nil && m.Container == nil) || m.Err != nil && err == nil {
			t.Errorf("declared %q: %+v, ParsePod: %v", declared, m, err)
		}
		if hints := HintsOf(pod); len(hints) > 0 && RunsEtcd(pod) {
			t.Errorf("declared %q: it runs etcd, and has hints %v", declared, hints)
		}
	})
}
