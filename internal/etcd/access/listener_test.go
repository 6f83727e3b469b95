// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package access

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// TestListens: any usable URL is enough, whatever stands beside it.
func TestListens(t *testing.T) {
	t.Parallel()
	const noForward = "doesn't listen on the pod's localhost"
	for _, row := range []struct {
		name, urls, direct string
		want               listener
		err                []string
	}{
		{name: "every address", urls: "http://0.0.0.0:2379", want: listener{port: 2379}},
		{name: "every address of both kinds", urls: "https://[::]:4001", want: listener{port: 4001, secure: true}},
		{name: "localhost by IPv6", urls: "https://[::1]:2379", want: listener{port: 2379, secure: true}},
		{name: "localhost beside the pod's own", urls: "https://10.0.0.1:2379,https://localhost:2390", want: listener{port: 2390, secure: true}},
		{name: "TLS before none", urls: "http://127.0.0.1:1,https://127.0.0.1:2", want: listener{port: 2, secure: true}},
		{name: "without a host", urls: "http://:2379", want: listener{port: 2379}},
		{name: "localhost beside brackets around IPv4", urls: "https://[10.244.1.2]:2379,https://127.0.0.1:2379", want: listener{port: 2379, secure: true}},
		{name: "localhost beside what can't be parsed", urls: "https://%zz:2379,http://127.0.0.1:2379", want: listener{port: 2379}},
		{name: "localhost beside what the pod makes", urls: "https://$(hostname -i):2379,http://127.0.0.1:2379", want: listener{port: 2379}},
		{name: "what the pod makes before localhost", urls: "https://${IP}:2379,https://localhost:2379", want: listener{port: 2379, secure: true}},
		{name: "localhost beside no port", urls: "http://0.0.0.0,http://localhost:2379", want: listener{port: 2379}},
		{name: "localhost beside a socket", urls: "unix:///run/etcd.sock,http://localhost:2379", want: listener{port: 2379}},

		{name: "the pod's address alone", urls: "https://10.0.0.1:2379", err: []string{"https://10.0.0.1:2379 " + noForward}},
		{name: "its IPv6 address alone", urls: "https://[fd00::1]:2379", err: []string{noForward}},
		{name: "a loopback that no port-forward dials", urls: "http://127.0.0.2:2379", err: []string{noForward}},
		{name: "a socket", urls: "unix:///run/etcd.sock", err: []string{"not reachable by network"}},
		{name: "what the pod makes", urls: "https://$(cat /ip):2379", err: []string{"can't be determined from outside"}},
		{name: "no port", urls: "http://0.0.0.0", err: []string{"has no port"}},
		{name: "a port out of range", urls: "http://0.0.0.0:70000", err: []string{"has no valid port"}},
		{
			name: "each with its reason", urls: "https://[10.244.1.2]:2379,https://%zz:1,http://10.0.0.1:2379,http://0.0.0.0",
			err: []string{`"https://%zz:1" is not a valid URL`, "http://10.0.0.1:2379 " + noForward, `"http://0.0.0.0" has no port`},
		},
		{name: "none", urls: "", err: []string{"none is set"}},

		{name: "directly, the pod's address", urls: "https://10.0.0.1:2379", direct: "10.0.0.1", want: listener{2379, true, "10.0.0.1"}},
		{name: "directly, its IPv6 address", urls: "https://[fd00:0::1]:2379", direct: "fd00::1", want: listener{2379, true, "fd00::1"}},
		{name: "directly, every address", urls: "http://0.0.0.0:2379", direct: "10.0.0.1", want: listener{2379, false, "10.0.0.1"}},
		{name: "directly, what the pod makes", urls: "https://$(hostname -i):2379", direct: "10.0.0.1", want: listener{2379, true, "10.0.0.1"}},
		{name: "directly before a port-forward", urls: "http://127.0.0.1:2379,http://10.0.0.1:2379", direct: "10.0.0.1", want: listener{2379, false, "10.0.0.1"}},
		{name: "localhost alone", urls: "http://127.0.0.1:2379", direct: "10.0.0.1", want: listener{port: 2379}},
		{name: "directly, another address", urls: "http://10.0.0.9:2379", direct: "10.0.0.1", err: []string{noForward}},
		{name: "directly, a port that the pod makes", urls: "http://$IP:$PORT", direct: "10.0.0.1", err: []string{"can't be determined"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := listens(strings.FieldsFunc(row.urls, func(c rune) bool { return c == ',' }), row.direct)
			if got != row.want || (err == nil) != (len(row.err) == 0) {
				t.Errorf("%+v, error %v; want %+v, error %q", got, err, row.want, row.err)
			}
			for _, want := range row.err {
				if err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("error %v, want %q", err, want)
				}
			}
		})
	}
}

// TestMemberNames holds which names a member's certificate may have: none is short,
// none is localhost, none is of a default.
func TestMemberNames(t *testing.T) {
	t.Parallel()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a-0"},
		Spec:       corev1.PodSpec{Hostname: "a-0", Subdomain: "a"},
	}
	services := []corev1.Service{{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a-client"}}}
	s := etcdconf.Config{
		AdvertiseClient: []string{"https://a-0.a.shop.svc.corp.example:2379", "https://etcd.example.com:2379", "https://localhost:2379"},
		AdvertisePeer:   []string{"https://peer.example.com:2380"},
		Where:           map[string]string{"advertise-client-urls": "flag", "initial-advertise-peer-urls": "flag"},
	}
	want := []string{
		"a-0.a.shop.svc.corp.example", "a-0.a.shop.svc", "a-0.a.shop", "etcd.example.com",
		"a-client.shop.svc.corp.example", "a-client.shop.svc", "a-client.shop",
		"a.shop.svc.corp.example", "a.shop.svc", "a.shop",
	}
	if diff := cmp.Diff(want, memberNames(pod, s, services)); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	s.Where = nil
	if got := memberNames(pod, s, nil); got[0] != "a-0.a.shop.svc.cluster.local" || len(got) != 6 {
		t.Errorf("without settings: %q", got)
	}
	pod.Spec.Hostname, pod.Spec.Subdomain = "", ""
	if got := memberNames(pod, s, nil); len(got) != 0 {
		t.Errorf("of a pod without a name: %q", got)
	}
}
