// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package annotation

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// RestartRecord is how far a requested restart is, as the annotation of a StatefulSet has it.
type RestartRecord struct {
	// Request is the text of the request that it is about. It is empty if no restart has begun.
	Request string
	// Pods are the UIDs of the pods from when the restart began. There is none if it is done.
	Pods map[string]types.UID
}

// ParseRestartRecord reads the annotation. Anyone may edit annotations, so an invalid one counts as absent: the
// restart begins again.
func ParseRestartRecord(text string) RestartRecord {
	pods, request, found := strings.Cut(text, ";")
	if !found {
		return RestartRecord{}
	}
	r := RestartRecord{Request: request, Pods: map[string]types.UID{}}
	for entry := range strings.SplitSeq(pods, ",") {
		if pod, uid, ok := strings.Cut(entry, "="); ok && len(r.Pods) < mostMembers {
			r.Pods[pod] = types.UID(uid)
		}
	}
	return r
}

// String returns the text of the annotation.
func (r RestartRecord) String() string {
	var entries []string
	for _, pod := range slices.Sorted(maps.Keys(r.Pods)) {
		entries = append(entries, pod+"="+string(r.Pods[pod]))
	}
	return strings.Join(entries, ",") + ";" + r.Request
}

// RequestedPod returns the pod that a request names, or true for all pods.
func RequestedPod(request string) (pod string, all bool) {
	word, _, _ := strings.Cut(strings.TrimSpace(request), " ")
	return word, word == v1alpha1.RestartRolling
}
