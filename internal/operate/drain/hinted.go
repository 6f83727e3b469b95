// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
)

// warnHinted warns about other pods that may be members: the plan treats them as any other pod.
func (o *observation) warnHinted(ctx context.Context) error {
	candidates, err := resolve.Candidates(ctx, o.reader)
	if err != nil {
		return err
	}
	unread := resolve.Unread(o.reader.Scripts, "", labels.Everything())
	for i := range o.Nodes {
		n := &o.Nodes[i]
		for k := range n.Others {
			pod := &n.Others[k]
			if at := slices.IndexFunc(unread, func(e *resolve.UnreadError) bool { return executes(e, pod) }); at >= 0 {
				n.Warnings = append(n.Warnings, fmt.Sprintf("pod %s/%s may run etcd, and the plan does not protect it: %v", pod.Namespace, pod.Name, unread[at]))
			} else if slices.ContainsFunc(candidates, func(c resolve.Candidate) bool { return declares(c, pod) }) {
				n.Warnings = append(n.Warnings, fmt.Sprintf("pod %s/%s may run etcd, and the plan does not protect it. kubectl etcd list -n %s --all shows why, and how to declare it",
					pod.Namespace, pod.Name, pod.Namespace))
			}
		}
	}
	return nil
}

// executes reports whether a pod is of a StatefulSet of which it is not known what its pods execute.
func executes(e *resolve.UnreadError, pod *corev1.Pod) bool {
	ref := metav1.GetControllerOfNoCopy(pod)
	return ref != nil && ref.Kind == "StatefulSet" && e.Namespace == pod.Namespace && slices.Contains(e.Names, ref.Name)
}

// declares reports whether a pod is of a candidate. The pods of a Deployment are those of its ReplicaSets.
func declares(c resolve.Candidate, pod *corev1.Pod) bool {
	if c.Namespace != pod.Namespace {
		return false
	}
	ref := metav1.GetControllerOfNoCopy(pod)
	switch {
	case c.Kind == "Pod":
		return c.Name == pod.Name
	case ref == nil:
		return false
	case c.Kind == "Deployment":
		return ref.Kind == "ReplicaSet" && strings.HasPrefix(ref.Name, c.Name+"-")
	}
	return ref.Kind == c.Kind && ref.Name == c.Name
}
