// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

func TestListens(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, urls string
		want       listener
		err        string
	}{
		{name: "every address", urls: "http://0.0.0.0:2379", want: listener{2379, false}},
		{name: "every address of both kinds", urls: "https://[::]:4001", want: listener{4001, true}},
		{name: "localhost beside the pod's own", urls: "https://10.0.0.1:2379,https://localhost:2390", want: listener{2390, true}},
		{name: "TLS before none", urls: "http://127.0.0.1:1,https://127.0.0.1:2", want: listener{2, true}},
		{name: "without a host", urls: "http://:2379", want: listener{2379, false}},
		{name: "the pod's address alone", urls: "https://10.0.0.1:2379", err: "none of them listens on the pod's localhost"},
		{name: "a socket", urls: "unix:///run/etcd.sock", err: "none of them listens on the pod's localhost"},
		{name: "what the pod makes", urls: "https://$(cat /ip):2379", err: "can't be determined from outside"},
		{name: "no port", urls: "http://0.0.0.0", err: "has no port"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, err := listens(strings.Split(row.urls, ","))
			if got != row.want || (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
				t.Errorf("%+v, error %v; want %+v, error %q", got, err, row.want, row.err)
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
