// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// nodesFail is a reader of objects that answers each read of a node with an error, and counts these reads.
type nodesFail struct {
	client.Reader
	err   error
	reads *atomic.Int64
}

func (n nodesFail) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if _, node := obj.(*corev1.Node); node {
		n.reads.Add(1)
		return n.err
	}
	return n.Reader.Get(ctx, key, obj, opts...)
}

func (n nodesFail) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, nodes := list.(*corev1.NodeList); nodes {
		return n.err
	}
	return n.Reader.List(ctx, list, opts...)
}

// TestNodesUnknown: of a node that can't be read nothing is concluded, and one that the cache or a list lacks counts as
// one that does not exist only if the API server lacks it, too.
func TestNodesUnknown(t *testing.T) {
	t.Parallel()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "new"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main-0"}, Spec: corev1.PodSpec{NodeName: "new"}}
	other := pod.DeepCopy()
	other.Name, other.Spec.NodeName = "main-1", "other"
	forbidden := apierrors.NewForbidden(corev1.Resource("nodes"), "", nil)
	preload := func(from client.Reader, nodes bool) *Reader {
		r, _, err := (&Reader{Reader: from}).Preload(t.Context(), "team", nodes)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	var reads atomic.Int64
	for _, row := range []struct {
		what  string
		r     *Reader
		lost  string
		reads int
	}{
		{"it does not exist", &Reader{Reader: observetest.Objects{}}, "node new does not exist", 0},
		{"it exists", &Reader{Reader: observetest.Objects{node}}, "", 0},
		{"the user may not read it", &Reader{Reader: nodesFail{observetest.Objects{}, forbidden, &reads}}, "", 3},
		{"the API server does not answer", &Reader{Reader: nodesFail{observetest.Objects{}, errors.New("timeout"), &reads}}, "", 3},
		{"the cache does not have it yet", &Reader{Reader: observetest.Objects{}, Live: observetest.Objects{node}}, "", 0},
		{"neither has it", &Reader{Reader: observetest.Objects{}, Live: observetest.Objects{}}, "node new does not exist", 0},
		{"the cache lacks it, and the API server does not answer", &Reader{Reader: observetest.Objects{}, Live: nodesFail{observetest.Objects{}, errors.New("timeout"), &reads}}, "", 3},
		{"nodes are not listed", preload(observetest.Objects{node}, false), "", 0},
		{"nodes are not listed, and it does not exist", preload(observetest.Objects{}, false), "node new does not exist", 0},
		{"nodes are listed", preload(observetest.Objects{node}, true), "", 0},
		{"nodes may not be listed or read", preload(nodesFail{observetest.Objects{}, forbidden, &reads}, true), "", 1},
	} {
		reads.Store(0)
		_ = row.r.nodesOf(t.Context(), []*corev1.Pod{pod})
		if got := row.r.nodesOf(t.Context(), []*corev1.Pod{other, pod})["new"].lost; got != row.lost {
			t.Errorf("%s: %q, want %q", row.what, got, row.lost)
		}
		if reads := int(reads.Load()); reads != row.reads {
			t.Errorf("%s: %d reads of nodes, want %d", row.what, reads, row.reads)
		}
	}
}

// TestNodesOfMany: the nodes of a few pods are read by name. For many, all nodes are listed once, and only those that the
// list lacks are read by name. If the user may not list them, they are read by name as before.
func TestNodesOfMany(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what         string
		pods         int
		listErr      error
		reads, lists int64
		lost         int
	}{
		{"few", 50, nil, 50, 0, 0},
		{"many", 400, nil, 50, 1, 0},
		{"many, of which some do not exist", 600, nil, 150, 1, 100},
		{"many that may not be listed", 400, apierrors.NewForbidden(corev1.Resource("nodes"), "", nil), 400, 1, 0},
	} {
		var pods []*corev1.Pod
		nodes := countedNodes{err: row.listErr}
		for i := range row.pods {
			node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", i)}}
			if i < 500 {
				nodes.Objects = append(nodes.Objects, node)
			}
			pods = append(pods, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: fmt.Sprintf("main-%d", i)}, Spec: corev1.PodSpec{NodeName: node.Name}})
		}
		r, _, err := (&Reader{Reader: &nodes}).Preload(t.Context(), "", false)
		if err != nil {
			t.Fatal(err)
		}
		lost := 0
		for range 2 {
			lost = 0
			for _, state := range r.nodesOf(t.Context(), pods) {
				lost += count(state.lost != "")
			}
		}
		if reads, lists := nodes.reads.Load(), nodes.lists.Load(); reads > row.reads || lists != row.lists || lost != row.lost {
			t.Errorf("%s: %d reads and %d lists, %d are lost; want at most %d, %d and %d", row.what, reads, lists, lost, row.reads, row.lists, row.lost)
		}
	}
}

// countedNodes counts the reads and lists of nodes, and answers the lists with an error.
type countedNodes struct {
	observetest.Objects

	err          error
	reads, lists atomic.Int64
}

func (c *countedNodes) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if _, node := obj.(*corev1.Node); node {
		c.reads.Add(1)
	}
	return c.Objects.Get(ctx, key, obj, opts...)
}

func (c *countedNodes) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if _, nodes := list.(*corev1.NodeList); nodes {
		if c.lists.Add(1); c.err != nil {
			return c.err
		}
	}
	return c.Objects.List(ctx, list, opts...)
}
