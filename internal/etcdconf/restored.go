// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/memberchange"
)

// restoredList returns why etcd's data may have a list of members that etcd's flags lack, empty for no such reason: a
// container restores a snapshot with one. A list of one entry is the member alone.
func restoredList(pod *corev1.Pod, contents Contents) string {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		around := surroundingsOf(pod, &c, contents)
		for _, list := range memberchange.Restored(shownArgs(slices.Concat(c.Command, c.Args), around), around) {
			if all := entriesOf(list); len(all) != 1 || !all[0].named {
				return "container " + c.Name + " restores a snapshot whose members are in etcd's data"
			}
		}
	}
	return ""
}
