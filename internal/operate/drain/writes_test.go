// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy/drain"
)

// refusing is a Kubectl whose writes are refused.
type refusing struct{ Kubectl }

func (refusing) Cordon(context.Context, *corev1.Node, bool) error { return errors.New("forbidden") }

func (refusing) Evict(context.Context, []corev1.Pod) error { return errors.New("forbidden") }

// TestCordon: a node that is cordoned already is not written. A refused write and a node that is gone end the run.
func TestCordon(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		left, cordoned []string
		refuse         bool
		steps, err     string
	}{
		"all":     {left: []string{"node-1", "node-2"}, cordoned: []string{"node-1", "node-2"}, steps: "cordoned node-1"},
		"gone":    {left: []string{"node-1", "node-9"}, cordoned: []string{"node-1"}, steps: "cordoned node-1", err: "read node node-9: "},
		"refused": {left: []string{"node-2", "node-1"}, cordoned: []string{"node-2"}, refuse: true, err: "cordon node node-1: forbidden"},
	} {
		w := newWorld(t, row.left...)
		w.addNodes("node-2")
		if row.refuse {
			w.run.Kubectl = refusing{w}
		}
		err := w.run.cordon(t.Context())
		if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %v, want %q", name, err, row.err)
		}
		if got := strings.Join(w.steps, "\n"); got != row.steps || !slices.Equal(w.run.Cordoned, row.cordoned) {
			t.Errorf("%s: did %q and has %q as cordoned", name, got, w.run.Cordoned)
		}
	}
}

// TestWave: kubectl evicts the other pods of the wave's nodes, and those of no other node.
func TestWave(t *testing.T) {
	t.Parallel()
	for _, refuse := range []bool{false, true} {
		w := newWorld(t, "node-1", "node-2")
		w.addNodes()
		w.addOther("web", "node-1")
		w.addOther("shop", "node-2")
		other := func(name string) []corev1.Pod {
			return []corev1.Pod{{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}}
		}
		node := func(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }
		s := &State{Nodes: []Node{{Node: node("node-1"), Others: other("web")}, {Node: node("node-2"), Others: other("shop")}}}
		if refuse {
			w.run.Kubectl = refusing{w}
		}
		err := w.run.wave(t.Context(), s, drain.Wave{Nodes: []string{"node-2"}})
		if refuse != (err != nil) || refuse && err.Error() != "evict the other pods of node-2: forbidden" {
			t.Errorf("refused %t: %v", refuse, err)
		}
		if gone := w.Get(operatetest.Path("Pod", "shop")) == nil; gone == refuse {
			t.Errorf("refused %t: shop is gone: %t", refuse, gone)
		}
		if w.Get(operatetest.Path("Pod", "web")) == nil {
			t.Errorf("refused %t: web is gone", refuse)
		}
	}
}
