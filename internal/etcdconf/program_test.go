// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestRunsEtcd(t *testing.T) {
	t.Parallel()
	env := func(names ...string) (out []corev1.EnvVar) {
		for _, n := range names {
			out = append(out, corev1.EnvVar{Name: n})
		}
		return out
	}
	type c = corev1.Container
	for _, row := range []struct {
		name string
		c    c
		want bool
	}{
		{"etcd's own documentation", c{Command: []string{"/usr/local/bin/etcd"}, Args: []string{"--name=$(HOSTNAME)"}}, true},
		{"name in args", c{Args: []string{"/usr/local/bin/etcd", "--name", "x"}}, true},
		{"flags only, the image's entry point is hidden", c{Args: []string{"--name=x", "--listen-peer-urls=http://0.0.0.0:2380"}}, true},
		{"shell", c{Command: []string{"/bin/sh", "-ec"}, Args: []string{"HOSTNAME=$(hostname)\nexec etcd --name $HOSTNAME \\\n --data-dir /d"}}, true},
		{"shell, variable before it, as hypershift", c{Command: []string{"/bin/sh", "-c", "ETCD_INITIAL_CLUSTER_STATE=$(cat /etc/etcd/clusterstate/state) /usr/bin/etcd \\\n--data-dir=/var/lib/data"}}, true},
		{"shell, after an operator", c{Command: []string{"sh", "-c", "mkdir -p /d && etcd"}}, true},
		{"tini", c{Command: []string{"/sbin/tini", "-g", "--", "etcd"}}, true},
		{"env", c{Command: []string{"env", "GOMAXPROCS=2", "etcd"}}, true},
		{"environment alone, as Bitnami", c{Env: env("ETCD_NAME", "ETCD_DATA_DIR", "ETCD_LISTEN_CLIENT_URLS")}, true},
		{"environment with a script of the image", c{Command: []string{"/opt/run.sh"}, Env: env("ETCD_LISTEN_PEER_URLS", "ETCD_NAME")}, true},

		{"proxy", c{Command: []string{"etcd", "grpc-proxy", "start"}}, false},
		{"proxy with a member's environment", c{Command: []string{"etcd", "gateway", "start"}, Env: env("ETCD_DATA_DIR")}, false},
		{"proxy in a shell", c{Command: []string{"sh", "-c", "exec etcd grpc-proxy start --endpoints x"}}, false},
		{"backup with etcdctl", c{Command: []string{"etcdctl", "snapshot", "save"}, Env: env("ETCD_DATA_DIR")}, false},
		{"a shell that mentions etcd", c{Command: []string{"sh", "-c", "curl http://etcd:2379/health; cat /etc/etcd /var/lib/etcd"}}, false},
		{"a variable that one way assigns", c{Command: []string{"sh", "-c", "if [ -e /x ]; then BIN=etcd; else exit; fi; exec $BIN"}}, false},
		{"a variable before its assignment", c{Command: []string{"sh", "-c", "exec $BIN --name a; BIN=etcd"}}, false},
		{"a function that uses a later variable", c{Command: []string{"sh", "-c", "run() { exec $BIN; }\nBIN=/usr/bin/etcd\nrun"}}, true},
		{"a variable of a loop", c{Command: []string{"sh", "-c", "BIN=etcd\nfor BIN in a b; do true; done\nexec $BIN"}}, false},
		{"a variable that is read", c{Command: []string{"sh", "-c", "BIN=etcd\nread BIN </x\nexec $BIN"}}, false},
		{"a branch that no way takes", c{Command: []string{"sh", "-c", "if false; then exec etcd; fi; exec server"}}, false},
		{"an operator that skips it", c{Command: []string{"sh", "-c", "true || exec etcd"}}, false},
		{"a case of another word", c{Command: []string{"sh", "-c", "case a in etcd) exec etcd;; esac"}}, false},
		{"behind an endless loop", c{Command: []string{"sh", "-c", "while true; do sleep 1; done; exec etcd"}}, false},
		{"in a loop that continues before it", c{Command: []string{"sh", "-c", "for f in /nonexistent; do [ -f $f ] || continue; exec etcd; done; exec server"}}, false},
		{"behind an item of a case that falls through", c{Command: []string{"bash", "-c", "case a in a) :;& b) exec server;; esac; exec etcd"}}, false},
		{"behind a quoted star", c{Command: []string{"sh", "-c", "case $1 in '*') exec etcd;; esac; exec server"}}, false},
		{"behind a loop that ends the script", c{Command: []string{"sh", "-c", "for i in 1; do exit; done; exec etcd"}}, false},
		{"behind a loop that breaks", c{Command: []string{"sh", "-c", "while true; do if [ -e /x ]; then break; fi; sleep 1; done; exec etcd"}}, true},
		{"behind a comparison of literals", c{Command: []string{"sh", "-c", "if [ a = b ]; then exec server; fi; exec etcd"}}, true},
		{"etcd-something", c{Command: []string{"etcd-backup"}}, false},
		{"a client's environment", c{Image: "app", Env: env("ETCD_ENDPOINTS", "ETCDCTL_API")}, false},
		{"image, port and name are weak", c{Name: "etcd", Image: "quay.io/coreos/etcd:v3.6.0", Ports: []corev1.ContainerPort{{Name: "client", ContainerPort: 2379}}}, false},
		{"nothing", c{}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if got := RunsEtcd(&corev1.Pod{Spec: corev1.PodSpec{Containers: []c{{Command: []string{"sleep"}}, row.c}}}); got != row.want {
				t.Errorf("RunsEtcd = %t, want %t", got, row.want)
			}
		})
	}
}
