// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// TestMemberOf declares pods in every way, right and wrong.
func TestMemberOf(t *testing.T) {
	t.Parallel()
	type list = []corev1.Container
	run := func(name string, argv ...string) corev1.Container { return corev1.Container{Name: name, Command: argv} }
	hidden, etcd, other := run("db", "/launch"), run("etcd", "etcd"), run("second", "etcd", "--name=b")
	variables := corev1.Container{Name: "vars", Env: []corev1.EnvVar{{Name: "ETCD_NAME"}, {Name: "ETCD_LISTEN_CLIENT_URLS"}}}
	for _, row := range []struct {
		name, declared string
		containers     list
		want           Evidence
		container, err string
	}{
		{"nothing declared, nothing shown", "", list{hidden}, NoEvidence, "", ""},
		{"a launcher", "db", list{hidden}, Declared, "db", ""},
		{"the other container", "db", list{etcd, hidden}, Declared, "db", ""},
		{"one of two that run etcd", "second", list{etcd, other}, Declared, "second", ""},
		{"denied", "false", list{etcd}, NoEvidence, "", ""},
		{"a wrong name, and nothing shown", "dB", list{hidden}, NoEvidence, "", `no container "dB"; it must be db, or false`},
		{"a wrong name, and etcd shown", "x", list{etcd, hidden}, Shown, "", "it must be etcd or db, or false"},
		{"an empty name", " ", list{etcd}, Shown, "", `no container " "`},
		{"an init container", "setup", list{hidden}, NoEvidence, "", `"setup" is an init container`},
		{"a name of a megabyte", strings.Repeat("a", 1<<20), list{etcd}, Shown, "", "aaa...\""},
		{"two that run etcd", "", list{etcd, other}, Hinted, "", "containers etcd and second of the pod both run etcd"},
		{"two with variables", "", list{variables, variables}, Hinted, "", "both run etcd"},
		{"one that runs it beside one with variables", "", list{variables, etcd}, Shown, "etcd", ""},
		{"one with variables", "", list{hidden, variables}, Shown, "vars", ""},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{InitContainers: list{run("setup", "cp")}, Containers: row.containers}}
		if row.declared != "" {
			pod.Annotations = map[string]string{v1alpha1.EtcdAnnotation: row.declared}
		}
		m := MemberOf(pod)
		container, err := describe(m)
		if m.Evidence != row.want || container != row.container || !strings.Contains(err, row.err) || (err == "") != (row.err == "") || len(err) > 400 {
			t.Errorf("%s: %d, container %q, error %q; want %d, %q, %q", row.name, m.Evidence, container, err, row.want, row.container, row.err)
		}
		// What can't be read is reported in the same way.
		if _, parsed := ParsePod(pod, nil); row.err != "" && (parsed == nil || !strings.Contains(parsed.Error(), row.err)) {
			t.Errorf("%s: ParsePod: %v", row.name, parsed)
		}
		if RunsEtcd(pod) && len(HintsOf(pod)) > 0 {
			t.Errorf("%s: it runs etcd, and has hints %v", row.name, HintsOf(pod))
		}
	}
}

// describe returns the name of a member's container and the text of its error.
func describe(m Member) (container, err string) {
	if m.Container != nil {
		container = m.Container.Name
	}
	if m.Err != nil {
		err = m.Err.Error()
	}
	return container, err
}

// TestHintsOf has what may be etcd, and what is known not to be.
func TestHintsOf(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name   string
		c      corev1.Container
		init   corev1.Container
		labels map[string]string
		denied bool
		want   string
	}{
		{name: "nothing", c: corev1.Container{Command: []string{"/app"}}},
		{name: "an image and a launcher", c: corev1.Container{Image: "quay.io/x/etcd:v3.6.1@sha256:0", Command: []string{"/launch"}}, want: "image quay.io/x/etcd:v3.6.1@sha256:0, its command is /launch, which may be a launcher"},
		{name: "an image of another name", c: corev1.Container{Image: "x/etcd-backup:1"}},
		{name: "a port", c: corev1.Container{Command: []string{"/launch"}, Ports: []corev1.ContainerPort{{ContainerPort: 2379}}}, want: "port 2379, its command is /launch, which may be a launcher"},
		{name: "a variable", c: corev1.Container{Env: []corev1.EnvVar{{Name: "ETCD_DATA_DIR"}}}, want: "variable ETCD_DATA_DIR"},
		{name: "one way of a script", c: corev1.Container{Command: []string{"sh", "-c", "if [ $X ]; then exec etcd; fi; exec /app"}}, want: "only some ways of its script run etcd"},
		{name: "a label", labels: map[string]string{"app": "etcd"}, want: "label app=etcd"},
		{name: "a client", c: corev1.Container{Image: "x/etcd:3", Command: []string{"etcdctl", "get", "a"}}, labels: map[string]string{"app": "etcd"}},
		{name: "a gateway", c: corev1.Container{Image: "x/etcd:3", Command: []string{"etcd", "gateway"}, Ports: []corev1.ContainerPort{{ContainerPort: 2379}}}},
		{name: "denied", c: corev1.Container{Image: "x/etcd:3"}, denied: true},
		{name: "a manager's image", c: corev1.Container{Image: "x/etcd-manager-slim:v3"}, want: "image x/etcd-manager-slim:v3"},
		{name: "a launcher's program", c: corev1.Container{Command: []string{"/opt/bin/etcd-launcher", "run"}}, want: "it runs etcd-launcher, its command is /opt/bin/etcd-launcher, which may be a launcher"},
		{name: "a manager's label", labels: map[string]string{"k8s-app": "etcd-manager-events"}, want: "label k8s-app=etcd-manager-events"},
		{name: "a manager's client", c: corev1.Container{Command: []string{"/etcd-manager-ctl", "get"}}},
		{name: "another program's manager", c: corev1.Container{Image: "x/my-etcd-manager:1"}, labels: map[string]string{"app": "my-etcd-manager"}},
		{name: "etcd copied for a launcher", init: corev1.Container{Image: "x/etcd:3", Command: []string{"cp", "/usr/local/bin/etcd", "/opt/"}}, want: "init container init copies etcd from image x/etcd:3"},
		{name: "etcd copied by a flag", init: corev1.Container{Image: "x/etcd:3", Command: []string{"/cp"}, Args: []string{"--target-dir=/opt", "--src=/usr/local/bin/etcd"}}, want: "init container init copies etcd from image x/etcd:3"},
		{name: "etcdctl copied", init: corev1.Container{Image: "x/etcd:3", Command: []string{"cp", "/usr/local/bin/etcdctl", "/etcd-tools/"}}},
		{name: "data copied by another image", init: corev1.Container{Image: "x/busybox:1", Command: []string{"cp", "/usr/local/bin/etcd", "/opt/"}}},
		{name: "etcd run for a preparation", init: corev1.Container{Image: "x/etcd:3", Command: []string{"/usr/local/bin/etcd", "--version"}}},
		{name: "a client first", init: corev1.Container{Image: "x/etcd:3", Command: []string{"etcdctl", "get", "/a/etcd"}}},
		{name: "etcd copied, and denied", init: corev1.Container{Image: "x/etcd:3", Command: []string{"cp", "/etcd", "/opt/"}}, denied: true},
	} {
		row.c.Name = "c"
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: row.labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{row.c}}}
		if row.init.Name = "init"; row.init.Image != "" {
			pod.Spec.InitContainers = []corev1.Container{row.init}
		}
		if row.denied {
			pod.Annotations = map[string]string{v1alpha1.EtcdAnnotation: v1alpha1.NotEtcd}
		}
		var texts []string
		for _, h := range HintsOf(pod) {
			texts = append(texts, h.Text)
		}
		if got := strings.Join(texts, ", "); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
		if RunsEtcd(pod) {
			t.Errorf("%s: it is shown to run etcd", row.name)
		}
	}
}
