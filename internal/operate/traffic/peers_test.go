// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// TestPeerObstacle: members may reach each other by Services that are not headless.
func TestPeerObstacle(t *testing.T) {
	t.Parallel()
	services := []corev1.Service{
		{ObjectMeta: metav1.ObjectMeta{Name: "client", Namespace: "team"}, Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.9", ClusterIPs: []string{"10.96.0.9", "fd00::9"}}},
		{ObjectMeta: metav1.ObjectMeta{Name: "main-1", Namespace: "team"}, Status: corev1.ServiceStatus{
			LoadBalancer: corev1.LoadBalancerStatus{Ingress: []corev1.LoadBalancerIngress{{IP: "192.0.2.7"}, {Hostname: "lb.example.com"}}},
		}},
	}
	for peer, want := range map[string]string{
		"https://main-1.main-peer.team.svc:2380":        "",
		"https://client.other.svc:2380":                 "",
		"https://10.0.0.7:2380":                         "",
		"http://main-1:2380":                            "Service main-1",
		"http://main-1.team:2380":                       "Service main-1",
		"https://main-1.team.svc:2380":                  "Service main-1",
		"https://main-1.team.svc.cluster.local.:2380":   "Service main-1",
		"https://client.team.svc.cluster.example:12380": "Service client",
		"http://10.96.0.9:2380":                         "Service client",
		"http://[fd00::9]:2380":                         "Service client",
		"http://192.0.2.7:2380":                         "Service main-1",
		"http://lb.example.com:2380":                    "Service main-1",
	} {
		list := []etcd.Listed{{ID: 1, PeerURLs: []string{"http://main-0.main-peer.team.svc:2380"}}, {ID: 2, PeerURLs: []string{peer}}}
		if got := PeerObstacle(services, ListedPeers(list)); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%s: %q, want %q", peer, got, want)
		}
		if got := PeerObstacle(services, ListedPeers(list[1:])); got != "" {
			t.Errorf("%s of a single member: %q", peer, got)
		}
	}
}

// TestConfiguredPeers: while no member answers, the configuration of the pods shows by which hosts
// members reach each other.
func TestConfiguredPeers(t *testing.T) {
	t.Parallel()
	services := []corev1.Service{{ObjectMeta: metav1.ObjectMeta{Name: "etcd-1", Namespace: "team"}}}
	pod := func(args ...string) *corev1.Pod {
		return &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: "etcd-0-abc", Namespace: "team"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Command: append([]string{"etcd"}, args...)}}},
		}
	}
	for _, row := range []struct {
		name string
		pod  *corev1.Pod
		want string
	}{
		{"another member's name", pod("--name=a", "--initial-advertise-peer-urls=http://a:2380", "--initial-cluster=a=http://a:2380,b=http://etcd-1:2380"), "Service etcd-1"},
		{"its own name", pod("--name=b", "--initial-advertise-peer-urls=http://etcd-1.team:2380", "--initial-cluster=b=http://etcd-1.team:2380,c=http://c:2380"), "Service etcd-1"},
		{"other names", pod("--name=a", "--initial-cluster=a=http://a:2380,b=http://b:2380"), ""},
		{"a single member", pod("--name=b", "--initial-advertise-peer-urls=http://etcd-1:2380", "--initial-cluster=b=http://etcd-1:2380"), ""},
		{"others that only the pod knows", pod("--name=b", "--initial-advertise-peer-urls=http://etcd-1:2380", "--initial-cluster=b=http://etcd-1:2380,$(OTHERS)"), "Service etcd-1"},
		{"defaults", pod(), ""},
	} {
		config, err := etcdconf.ParsePod(row.pod, func(string, string) (map[string][]byte, error) { return nil, nil })
		if err != nil {
			t.Fatal(err)
		}
		got := PeerObstacle(services, configuredPeers(row.pod.Name, config))
		if !strings.HasPrefix(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

// TestUnknownPeers: a setting that can't be read is not etcd's default.
func TestUnknownPeers(t *testing.T) {
	t.Parallel()
	for flag, want := range map[string]string{
		"initial-advertise-peer-urls": "--initial-advertise-peer-urls of pod a is not known: why", "initial-cluster": "--initial-cluster of pod a is not known: why", "name": "",
	} {
		got := ""
		if err := unknownPeers("a", etcdconf.Config{Unknown: map[string]string{flag: "why"}}); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", flag, got, want)
		}
	}
}
