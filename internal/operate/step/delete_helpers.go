// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// DeleteHelpers deletes helper pods of a restore that may exist, and waits until they are gone. A pod of another
// client with such a name stays, and is an error.
type DeleteHelpers struct {
	Names []string
	// Of is the UID of the cluster's owner, which the helper pods have as label.
	Of string
}

// Command implements Action. It deletes all helper pods of the cluster: kubectl takes names or a label.
func (d DeleteHelpers) Command(f Flags) string {
	return f.kubectl("delete pod -l %s=%s", v1alpha1.RestoreOfLabel, d.Of)
}

// Do implements Action.
func (d DeleteHelpers) Do(ctx context.Context, c Clients) error {
	for _, name := range d.Names {
		pod, err := c.helper(ctx, name, d.Of)
		if err != nil {
			return err
		}
		if pod == nil {
			continue
		}
		err = c.Kube.Delete(ctx, pod, client.Preconditions{UID: &pod.UID})
		if err != nil && !apierrors.IsNotFound(err) {
			return fmt.Errorf("delete pod %s: %w", name, err)
		}
	}
	return Wait{Kind: Pod, Names: d.Names, For: Deleted, Timeout: deleteTimeout}.Do(ctx, c)
}

// helper returns a helper pod of a cluster, nil if there is no pod, and an error if the pod is not known to be one.
func (c Clients) helper(ctx context.Context, name, of string) (*corev1.Pod, error) {
	var pod corev1.Pod
	err := c.Kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &pod)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read pod %s: %w", name, err)
	}
	if got := pod.Labels[v1alpha1.RestoreOfLabel]; of == "" || got != of {
		return nil, fmt.Errorf("pod %s is in the way: its label %s is %q, and a helper pod of this cluster has %q, so it is not deleted. Delete it if it is not needed, and run the command again", name, v1alpha1.RestoreOfLabel, got, of)
	}
	return &pod, nil
}
