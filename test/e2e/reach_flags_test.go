// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
)

// TestPluginConfigFileOfInitContainer has an init container write the configuration file, which
// can't be read from outside the pod. The error names the flags to use. With these flags every
// verb reaches the member.
func TestPluginConfigFileOfInitContainer(t *testing.T) {
	operating(t, 1)
	c := start(t, namespace(t), "main", clusters.Spec{
		Flavour: clusters.Plain, Size: 1, Ephemeral: true, Plain: clusters.PlainSpec{Like: clusters.ConfigFile}, Mutate: renderConfig,
	})
	for _, verb := range [][]string{{"member", "list"}, {"defrag"}, {"alarm", "list"}} {
		_, texts := plugin(t, 1, append(verb, target(c), "-n", c.Namespace)...)
		for _, want := range []string{"(emptyDir)", "--client-port", "--cacert"} {
			if !strings.Contains(texts, want) {
				t.Errorf("%v: no %q in: %s", verb, want, texts)
			}
		}
	}
	for _, verb := range [][]string{{"status"}, {"member", "list"}, {"defrag", "-y"}, {"alarm", "list"}} {
		_, texts := plugin(t, 0, append(verb, target(c), "-n", c.Namespace, "--client-port", "2379")...)
		if !strings.Contains(texts, "the flags are used instead") {
			t.Errorf("%v: no note in: %s", verb, texts)
		}
	}
}

// renderConfig adds an init container that copies the configuration file into an emptyDir.
func renderConfig(set *appsv1.StatefulSet) {
	pod := &set.Spec.Template.Spec
	at := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.ConfigMap != nil })
	from := *pod.Volumes[at].DeepCopy()
	from.Name = "rendered-from"
	to := pod.Volumes[at].Name
	pod.Volumes[at].VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	pod.Volumes = append(pod.Volumes, from)
	pod.InitContainers = append(pod.InitContainers, corev1.Container{
		Name: "render", Image: images.Alpine, ImagePullPolicy: corev1.PullIfNotPresent,
		Command:      []string{"/bin/sh", "-c", "cp -L /from/* /to/"},
		VolumeMounts: []corev1.VolumeMount{{Name: from.Name, MountPath: "/from"}, {Name: to, MountPath: "/to"}},
	})
}
