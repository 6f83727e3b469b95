// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// confirm returns an error if a pod that is awaited to be deleted has gone while its node could not confirm that its
// containers ended: with its node, or by force. nodes has the nodes of pods that may run. A node that the user may not
// read counts as one that confirms.
func (w Wait) confirm(ctx context.Context, c Clients, o *unstructured.Unstructured, name string, nodes map[string]string) error {
	if !w.Members || w.Kind != Pod || w.For != Deleted {
		return nil
	}
	if o != nil {
		var pod corev1.Pod
		if runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &pod) == nil {
			nodes[name] = pod.Spec.NodeName
			if podstate.Stopped(&pod) {
				delete(nodes, name)
			}
		}
		return nil
	}
	at := nodes[name]
	if delete(nodes, name); at == "" {
		return nil
	}
	var node corev1.Node
	state := "is not Ready"
	switch err := c.Kube.Get(ctx, client.ObjectKey{Name: at}, &node); {
	case apierrors.IsNotFound(err):
		state = "does not exist any more"
	case apierrors.IsForbidden(err):
		return nil
	case err != nil:
		return fmt.Errorf("read node %s: %w", at, err)
	case !scheduling.CutOff(&node):
		return nil
	}
	return operate.Halt("pod %s is gone, and its node %s %s, so nothing shows that the member has stopped, and it would go on as the old cluster: make sure that its machine is off, and run the same command again", name, at, state)
}
