// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberservices

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestBelow: the peer Service is the one that the peers' hosts use, not the first headless one.
func TestBelow(t *testing.T) {
	t.Parallel()
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "peers"}}
	for host, want := range map[string]bool{
		"etcd-0.peers":                          true,
		"etcd-0.peers.team":                     true,
		"etcd-0.peers.team.svc":                 true,
		"etcd-0.peers.team.svc.cluster.local":   true,
		"etcd-0.peers.team.svc.cluster.local.":  true,
		"peers":                                 true,
		"peers.team.svc":                        true,
		"etcd-0.peers.other.svc":                false,
		"etcd-0.metrics.team.svc":               false,
		"peers-0.metrics.team.svc":              false,
		"etcd-0.peers.teams":                    false,
		"a.etcd-0.peers.team.svc.cluster.local": false,
		"10.0.0.1":                              false,
		"":                                      false,
	} {
		if got := below(host, s); got != want {
			t.Errorf("%q: %v", host, got)
		}
	}
}

// TestOfStatefulSet: the Service that a StatefulSet names is the peers' only if their URLs have names there, or may have.
func TestOfStatefulSet(t *testing.T) {
	t.Parallel()
	service := func(ip string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main"}, Spec: corev1.ServiceSpec{ClusterIP: ip}}
	}
	const named, each, hidden = "http://$(POD).main:2380", "http://$(POD).team.svc:2380", "http://$(cat /host):2380"
	for _, row := range []struct {
		name, url, serviceName string
		service                *corev1.Service
		want                   string
	}{
		{"headless", named, "main", service(corev1.ClusterIPNone), "main"},
		{"headless, and each has its own", each, "main", service(corev1.ClusterIPNone), ""},
		{"headless, for all that is known", hidden, "main", service(corev1.ClusterIPNone), "main"},
		{"clients'", each, "main", service("10.96.0.9"), ""},
		{"clients', and the peers'", named, "main", service("10.96.0.9"), "main"},
		{"clients', for all that is known", hidden, "main", service("10.96.0.9"), ""},
		{"lost", named, "main", nil, "main, lost"},
		{"lost, for all that is known", hidden, "main", nil, "main, lost"},
		{"lost, and each has its own", each, "main", nil, ""},
		{"none named", each, "", service("10.96.0.9"), ""},
	} {
		set := observetest.EtcdSet("main/3")
		set.Spec.ServiceName = row.serviceName
		c := &set.Spec.Template.Spec.Containers[0]
		c.Env, c.Command = c.Env[:1], []string{"etcd", "--initial-advertise-peer-urls=" + row.url}
		if row.url == hidden {
			c.Command = []string{"sh", "-c", "etcd --initial-advertise-peer-urls=" + hidden}
		}
		objects := observetest.Objects{set}
		if row.service != nil {
			objects = append(objects, row.service)
		}
		p, err := OfPeers(t.Context(), &observe.Reader{Reader: objects}, owner.OfStatefulSet(set))
		got := p.Name
		if p.Name != "" && p.Service == nil {
			got += ", lost"
		}
		if err != nil || got != row.want {
			t.Errorf("%s: got %q, %v; want %q", row.name, got, err, row.want)
		}
	}
}

// TestOfHost: the Service of a new member is the one in which its peer URL has its name.
func TestOfHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"main-3.main":                        "main",
		"main-3.main.team.svc":               "main",
		"main-3.lost.team.svc.cluster.local": "lost, lost",
		"main-3":                             "main-3, lost",
		"main-3.team.svc":                    "main-3, lost",
		"main-2.team.svc":                    "main-2",
		"main-3.other":                       "other",
		"main-3.example.com":                 "",
		"10.0.0.7":                           "",
	} {
		set := observetest.EtcdSet("main/3")
		if strings.Contains(host, "lost") {
			set.Spec.ServiceName = "lost"
		}
		var services []corev1.Service
		for _, name := range []string{"main", "main-2", "other"} {
			services = append(services, corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}})
		}
		p := OfHost(services, set, "main-3", host)
		got := p.Name
		if p.Name != "" && p.Service == nil {
			got += ", lost"
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", host, got, want)
		}
	}
}
