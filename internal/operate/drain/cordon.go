// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Try lets the API server try the evictions of the first wave. Later ones depend on it.
func (j *Job) Try(ctx context.Context, s *State) error {
	w := s.Plan.Waves[0]
	for _, name := range w.Nodes {
		if err := j.Kubectl.Cordon(ctx, s.node(name).Node, true); err != nil {
			return err
		}
	}
	if len(w.Batches) == 0 {
		return nil
	}
	for _, e := range w.Batches[0] {
		if m := s.member(e); m != nil {
			if err := j.Evict(ctx, m.Pod, true); err != nil {
				return fmt.Errorf("evict %s/%s: %w", e.Namespace, e.Pod, err)
			}
		}
	}
	return nil
}

// cordon cordons all nodes, so that no member moves to a node that is drained later.
func (r *Run) cordon(ctx context.Context) error {
	for _, name := range r.Left {
		var node corev1.Node
		if err := r.Kube.Get(ctx, client.ObjectKey{Name: name}, &node); err != nil {
			return fmt.Errorf("read node %s: %w", name, err)
		}
		if !node.Spec.Unschedulable {
			if err := r.Kubectl.Cordon(ctx, &node, false); err != nil {
				return fmt.Errorf("cordon node %s: %w", name, err)
			}
			r.Logf("cordoned %s", name)
		}
		r.Cordoned = append(r.Cordoned, name)
	}
	return nil
}
