// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podstate

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// OutOfService returns the command by which a user declares that the machines of nodes are off, and the one that ends
// that. Kubernetes then removes their pods and detaches their volumes. context is the flags of kubectl, each after a
// space. The deletion of a node removes its pods, too, whether the machine is off or not: a member on a machine that is only cut
// off runs on.
func OutOfService(context string, nodes ...string) (set, unset string) {
	taint := fmt.Sprintf("kubectl%s taint nodes %s %s", context, strings.Join(nodes, " "), corev1.TaintNodeOutOfService)
	return taint + "=nodeshutdown:NoExecute", taint + "-"
}

// NodeGone returns what to do about a node that may be gone.
func NodeGone(node string) string {
	set, unset := OutOfService("", node)
	return fmt.Sprintf("bring the node back, or make sure that its machine is off and run %s, which removes the pod; when the machine is repaired: %s", set, unset)
}
