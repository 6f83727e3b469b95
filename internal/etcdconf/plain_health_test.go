// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestPlainHealthPort(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		args []string
		env  []corev1.EnvVar
		want string
	}{
		"default, which is loopback": {},
		"metrics before clients":     {args: []string{"--listen-metrics-urls=http://0.0.0.0:2381", "--listen-client-urls=http://0.0.0.0:2379"}, want: "2381"},
		"clients":                    {args: []string{"--listen-client-urls=https://0.0.0.0:2379,http://[::]:2380"}, want: "2380"},
		"TLS":                        {args: []string{"--listen-client-urls=https://0.0.0.0:2379"}},
		"loopback":                   {args: []string{"--listen-client-urls=http://127.0.0.1:2379,http://localhost:2379,http://[::1]:2379"}},
		"metrics on loopback":        {args: []string{"--listen-metrics-urls=http://127.0.0.1:2381", "--listen-client-urls=https://0.0.0.0:2379"}},
		"the pod's own IP":           {args: []string{"--listen-client-urls=http://$(POD_IP):2379"}, env: []corev1.EnvVar{{Name: "POD_IP", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "status.podIP"}}}}, want: "2379"},
		"a variable":                 {env: []corev1.EnvVar{{Name: "ETCD_LISTEN_METRICS_URLS", Value: "http://0.0.0.0:8080/"}}, want: "8080"},
		"no port, another, nonsense": {args: []string{"--listen-client-urls=http://0.0.0.0,http://0.0.0.0:x/../1,unix://a:1,http://a:1/path"}},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Command: append([]string{"etcd"}, row.args...), Env: row.env}}}}
		if got := PlainHealthPort(pod); got != row.want {
			t.Errorf("%s: %q, want %q", name, got, row.want)
		}
	}
}
