// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

const (
	oldCluster = "main-0=http://main-0.main:2380"
	newCluster = "main-0=http://main-0.main:2380,main-1=http://main-1.main:2380"
)

// TestSetBootstrap writes an initial cluster into templates of all kinds and reads it as
// etcd would. The reason is in the error where they can't be written.
func TestSetBootstrap(t *testing.T) {
	t.Parallel()
	env := func(vars ...string) []corev1.EnvVar {
		out := []corev1.EnvVar{{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}
		for _, v := range vars {
			name, value, _ := strings.Cut(v, "=")
			out = append(out, corev1.EnvVar{Name: name, Value: value})
		}
		return out
	}
	for _, c := range []struct {
		name      string
		container corev1.Container
		configs   map[string]map[string]string
		want      string // of an error
	}{
		{name: "flags", container: corev1.Container{Command: []string{"etcd"}, Args: []string{"--name=$(POD_NAME)", "--initial-cluster=" + oldCluster, "--initial-cluster-state=new"}, Env: env()}},
		{name: "flags in two arguments", container: corev1.Container{Command: []string{"etcd", "--name", "$(POD_NAME)", "-initial-cluster", oldCluster, "-initial-cluster-state", "new"}, Env: env()}},
		{name: "a flag by a variable", container: corev1.Container{Command: []string{"etcd", "--initial-cluster=$(PEERS)", "--initial-cluster-state=new"}, Env: env("PEERS=" + oldCluster)}},
		{name: "nothing is set", container: corev1.Container{Command: []string{"etcd", "--name=$(POD_NAME)"}, Env: env()}},
		{name: "variables", container: corev1.Container{Command: []string{"etcd"}, Env: env("ETCD_INITIAL_CLUSTER="+oldCluster, "ETCD_INITIAL_CLUSTER_STATE=new")}},
		{name: "state is not set", container: corev1.Container{Command: []string{"etcd"}, Env: env("ETCD_INITIAL_CLUSTER=" + oldCluster)}},
		{name: "a line of shell", container: corev1.Container{Command: []string{"sh", "-c", "set -e\nexec etcd --name ${POD_NAME} \\\n  --initial-cluster \"" + oldCluster + "\" \\\n  --initial-cluster-state=new \\\n  --logger=zap"}, Env: env()}},
		{name: "shell and variables", container: corev1.Container{Command: []string{"sh", "-c", "exec etcd --name ${POD_NAME}"}, Env: env("ETCD_INITIAL_CLUSTER=" + oldCluster)}},
		{
			name:      "a ConfigMap",
			container: corev1.Container{Command: []string{"etcd"}, Env: env(), EnvFrom: []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "state"}}}}},
			configs:   map[string]map[string]string{"state": {"ETCD_INITIAL_CLUSTER": oldCluster, "ETCD_INITIAL_CLUSTER_STATE": "new"}},
		},
		{
			name: "a script decides", want: "would not read",
			container: corev1.Container{Command: []string{"sh", "-c", "export ETCD_INITIAL_CLUSTER_STATE=$(cat /state)\nexec etcd --initial-cluster=" + oldCluster}, Env: env("ETCD_INITIAL_CLUSTER_STATE=new")},
		},
		{
			name:      "a flag whose value only the pod knows",
			container: corev1.Container{Command: []string{"sh", "-c", "STATE=$(cat /state)\nexec etcd --initial-cluster-state=$STATE --initial-cluster=" + oldCluster + "\n# --initial-cluster-state=x"}, Env: env("ETCD_INITIAL_CLUSTER_STATE=new")},
		},
		{
			name: "a configuration file", want: "from config file /etc/etcd/etcd.yaml",
			container: corev1.Container{Command: []string{"etcd", "--config-file=/etc/etcd/etcd.yaml", "--initial-cluster=" + oldCluster}, VolumeMounts: []corev1.VolumeMount{{Name: "file", MountPath: "/etc/etcd"}}},
			configs:   map[string]map[string]string{"file": {"etcd.yaml": "name: main-0\n"}},
		},
		{name: "a script's own variable", want: "not written in the pod template", container: corev1.Container{Command: []string{"sh", "-c", "export ETCD_INITIAL_CLUSTER=a=http://a:2380\nexec etcd"}, Env: env()}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkBootstrap(t, c.container, c.configs, c.want)
		})
	}
}

func checkBootstrap(t *testing.T, container corev1.Container, configs map[string]map[string]string, want string) {
	t.Helper()
	container.Name = "etcd"
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Name: "main", Namespace: "team"}}
	sts.Spec.Template.Spec.Containers = []corev1.Container{container}
	for name := range configs {
		from := &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}
		sts.Spec.Template.Spec.Volumes = append(sts.Spec.Template.Spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{ConfigMap: from}})
	}
	before := podTemplate{template: sts.Spec.Template, configs: configs}
	read := func(r podTemplate) etcdconf.Config {
		t.Helper()
		s, err := etcdconf.ParsePod(etcdconf.NextPod(sts, &r.template, "main-1"), func(_, name string) (map[string][]byte, error) {
			data := map[string][]byte{}
			for k, v := range r.configs[name] {
				data[k] = []byte(v)
			}
			return data, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	edited := before.clone()
	err := edited.setBootstrap(read(before), newCluster, stateExisting)
	s := read(edited)
	if err == nil && (s.InitialCluster != newCluster || s.InitialClusterState != stateExisting) {
		if want == "would not read" {
			return
		}
		t.Errorf("etcd would read %s %s of %v", s.InitialClusterState, s.InitialCluster, edited.template.Spec.Containers[0])
	}
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
	if reconcile := read(before); reconcile.InitialCluster == newCluster {
		t.Error("the first recipe was changed, too")
	}
}
