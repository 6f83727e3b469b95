// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// changesKey is the annotation of a cached StatefulSet that holds its member changes. No client can
// write it: see peersKey.
const changesKey = "kubectl-etcd:member-changes"

// MemberChangesOf returns the commands of a StatefulSet's pods that change the member list. It reads
// no ConfigMaps and no Secrets. Of a cached StatefulSet it returns what keepMemberChanges has kept.
func MemberChangesOf(sts *appsv1.StatefulSet) []etcdconf.MemberChange {
	text, cached := sts.Annotations[changesKey]
	if !cached {
		return etcdconf.MemberChanges(etcdconf.PodOfTemplate(sts), nil)
	}
	var kept []etcdconf.MemberChange
	if err := json.Unmarshal([]byte(text), &kept); err != nil {
		return nil // only keepMemberChanges writes it
	}
	return kept
}

// keepMemberChanges records the member changes of a StatefulSet before its init containers, its hooks
// and the values of its variables are dropped. One that shows no etcd and that no controller made is
// no cluster, and has none. It may be called again with what it returned.
func keepMemberChanges(sts *appsv1.StatefulSet) {
	if _, cached := sts.Annotations[changesKey]; cached {
		return
	}
	var changes []etcdconf.MemberChange
	if metav1.GetControllerOfNoCopy(sts) != nil || etcdconf.RunsEtcd(etcdconf.PodOfTemplate(sts)) {
		changes = MemberChangesOf(sts)
	}
	text, err := json.Marshal(changes)
	if err != nil {
		text = []byte("[]")
	}
	metav1.SetMetaDataAnnotation(&sts.ObjectMeta, changesKey, string(text))
}
