// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package kubectl

import (
	"io"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/drain"
)

var _ drain.Kubectl = (*Drain)(nil)

const (
	nodePath = "/api/v1/nodes/node-1"
	podPath  = "/api/v1/namespaces/team/pods/web"
)

// node is an API server with a node that has one pod.
func node(t *testing.T, flags Flags) (*apitest.Server, *Drain) {
	t.Helper()
	s := apitest.New(t)
	s.Put(nodePath, apitest.Object{"apiVersion": "v1", "kind": "Node", "metadata": apitest.Object{"name": "node-1"}})
	s.Put(podPath, apitest.Object{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": apitest.Object{"namespace": "team", "name": "web", "ownerReferences": []any{apitest.Object{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "rs", "controller": true}}},
		"spec":     apitest.Object{"nodeName": "node-1", "volumes": []any{apitest.Object{"name": "cache", "emptyDir": apitest.Object{}}}},
		"status":   apitest.Object{"phase": "Running"},
	})
	k, err := New(s.Config(), flags, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return s, k
}

// TestPods: the flags decide whether kubectl drain would evict a pod.
func TestPods(t *testing.T) {
	t.Parallel()
	_, k := node(t, Flags{GracePeriod: -1})
	if _, _, fails, err := k.Pods(t.Context(), "node-1"); err != nil || len(fails) != 1 || !strings.Contains(fails[0], "--delete-emptydir-data") {
		t.Errorf("without flags: %q, %v", fails, err)
	}
	_, k = node(t, Flags{GracePeriod: -1, DeleteEmptyDirData: true})
	if pods, _, fails, err := k.Pods(t.Context(), "node-1"); err != nil || len(fails) > 0 || len(pods) != 1 {
		t.Errorf("with the flag: %d pods, %q, %v", len(pods), fails, err)
	}
}

// TestCordon: a node is cordoned once, and not with dry.
func TestCordon(t *testing.T) {
	t.Parallel()
	s, k := node(t, Flags{GracePeriod: -1})
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
	if err := k.Cordon(t.Context(), n.DeepCopy(), true); err != nil || cordoned(s) {
		t.Errorf("dry: %v, cordoned is %t", err, cordoned(s))
	}
	if err := k.Cordon(t.Context(), n.DeepCopy(), false); err != nil || !cordoned(s) {
		t.Errorf("cordoned is %t: %v", cordoned(s), err)
	}
	before := len(s.Writes())
	n.Spec.Unschedulable = true
	if err := k.Cordon(t.Context(), n, false); err != nil || len(s.Writes()) > before {
		t.Errorf("a node that is cordoned is written: %q, %v", s.Writes(), err)
	}
}

func cordoned(s *apitest.Server) bool {
	spec, _ := s.Get(nodePath)["spec"].(apitest.Object)
	return spec["unschedulable"] == true
}

// TestEvict: pods are evicted, and never deleted if the API server has no evictions.
func TestEvict(t *testing.T) {
	t.Parallel()
	pods := []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "web"}}}
	s, k := node(t, Flags{GracePeriod: -1})
	s.Put("/api/v1", apitest.Object{"kind": "APIResourceList", "groupVersion": "v1"})
	if err := k.Evict(t.Context(), pods); err == nil || len(s.Writes()) > 0 {
		t.Errorf("without evictions: %v, %q", err, s.Writes())
	}
	s.Put("/api/v1", apitest.Object{"kind": "APIResourceList", "groupVersion": "v1", "resources": []any{
		apitest.Object{"name": "pods/eviction", "namespaced": true, "kind": "Eviction", "group": "policy", "version": "v1", "verbs": []any{"create"}},
	}})
	if err := k.Evict(t.Context(), pods); err != nil || s.Get(podPath) != nil {
		t.Errorf("%v, the pod is %v", err, s.Get(podPath))
	}
	if writes := s.Writes(); !slices.ContainsFunc(writes, func(w string) bool { return strings.HasSuffix(w, "/pods/web/eviction") }) {
		t.Errorf("the writes are %q", writes)
	}
}

// TestAsArgs: a command that is printed has the flags that were given.
func TestAsArgs(t *testing.T) {
	t.Parallel()
	if got := (Flags{GracePeriod: -1}).AsArgs(); got != "" {
		t.Errorf("no flags are %q", got)
	}
	all := Flags{IgnoreDaemonSets: true, DeleteEmptyDirData: true, Force: true, GracePeriod: 0, PodSelector: "a in (b, c)"}
	if got, want := all.AsArgs(), " --ignore-daemonsets --delete-emptydir-data --force --grace-period 0 --pod-selector 'a in (b, c)'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
