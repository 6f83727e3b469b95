// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// TestPeerURLs: each member of the list is compared with the pod that answers with its ID.
func TestPeerURLs(t *testing.T) {
	t.Parallel()
	url := func(pod string) string { return "http://" + pod + ".main.team.svc:2380" }
	facts := func() *health.Facts {
		f := &health.Facts{Serving: map[string]health.Got[etcdconf.Config]{}}
		for i, name := range []string{"main-0", "main-1", "main-2"} {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
				Namespace: "team", Name: name, Labels: map[string]string{"app": "main"},
				OwnerReferences: []metav1.OwnerReference{{Kind: "StatefulSet", Name: "main", UID: "main", Controller: new(true)}},
			}}
			pod.Spec.Hostname, pod.Spec.Subdomain = name, "main"
			f.Pods.Value = append(f.Pods.Value, pod)
			f.Serving[name] = health.Got[etcdconf.Config]{Value: etcdconf.Config{
				ListenPeer: []string{"http://0.0.0.0:2380"}, AdvertisePeer: []string{url(name)},
				Where: map[string]string{"listen-peer-urls": "flag", "initial-advertise-peer-urls": "flag"},
			}}
			f.Survey.Value.Members = append(f.Survey.Value.Members, etcd.Member{Pod: name, ID: uint64(i + 1)})
			f.Survey.Value.List = append(f.Survey.Value.List, etcd.Listed{ID: uint64(i + 1), Pod: name, PeerURLs: []string{url(name)}})
		}
		return f
	}
	for name, row := range map[string]struct {
		with func(*health.Facts)
		// wrong and unknown are the members of which it is found, and of which it is not known.
		wrong, unknown uint64
	}{
		"right": {func(*health.Facts) {}, 0, 0},
		"wrong": {func(f *health.Facts) { f.Survey.Value.List[2].PeerURLs[0] = "http://wrong:2380" }, 3, 0},
		"wrong, the pod of another": {func(f *health.Facts) {
			f.Survey.Value.List[2].PeerURLs[0], f.Survey.Value.List[2].Pod = url("main-1"), "main-1"
		}, 3, 0},
		"wrong, and it is down": {func(f *health.Facts) {
			f.Survey.Value.List[2].PeerURLs[0], f.Survey.Value.Members[2].ID = "http://wrong:2380", 0
		}, 3, 0},
		"no configuration": {func(f *health.Facts) { f.Serving["main-2"] = health.Got[etcdconf.Config]{Err: errors.New("no file")} }, 0, 3},
		"an old list": {func(f *health.Facts) {
			f.Survey.Value.ListErr = errors.New("no quorum")
			f.Survey.Value.List[2].PeerURLs[0] = "http://wrong:2380"
		}, 0, 0},
	} {
		f := facts()
		row.with(f)
		var objects observetest.Objects
		for _, pod := range f.Pods.Value {
			objects = append(objects, pod)
		}
		objects = append(objects, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main"}, Spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone, Selector: map[string]string{"app": "main"}}})
		g := gatherer{Source: Source{Reader: &observe.Reader{Reader: objects}}, Facts: f}
		g.peerURLs(t.Context())
		for _, id := range []uint64{1, 2, 3} {
			got := g.PeerURLs[id]
			if (len(got.Value.Wrong) > 0) != (id == row.wrong) || (got.Err != nil) != (id == row.unknown) {
				t.Errorf("%s: member %d: %+v", name, id, got)
			}
		}
	}
}
