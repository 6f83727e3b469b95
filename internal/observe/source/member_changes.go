// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// changesKey is the key under which a cached StatefulSet has its member changes.
const changesKey = "member-changes"

// MemberChangesOf returns the commands of a StatefulSet's pods that change the member list. It reads
// no ConfigMaps and no Secrets. Of a cached StatefulSet it returns what keepMemberChanges has kept.
func MemberChangesOf(sts *appsv1.StatefulSet) []etcdconf.MemberChange {
	if changes, cached := kept[[]etcdconf.MemberChange](sts, changesKey); cached {
		return changes
	}
	return etcdconf.MemberChanges(etcdconf.PodOfTemplate(sts), nil)
}

// keepMemberChanges records the member changes of a StatefulSet before its init containers, its hooks
// and the values of its variables are dropped. One that shows no etcd and that no controller made is
// no cluster, and has none. It may be called again with what it returned.
func keepMemberChanges(sts *appsv1.StatefulSet) {
	keep(sts, changesKey, func(sts *appsv1.StatefulSet) []etcdconf.MemberChange {
		if metav1.GetControllerOfNoCopy(sts) == nil && !etcdconf.RunsEtcd(etcdconf.PodOfTemplate(sts)) {
			return nil
		}
		changes := MemberChangesOf(sts)
		if !fits(changes) {
			changes = append(changes[:min(len(changes), mostContainers)], etcdconf.MemberChange{Unread: "the pod has too many scripts"})
		}
		return changes
	})
}
