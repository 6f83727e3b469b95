// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package growth

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// templates returns which StatefulSets still give new members smaller volumes, and what to do. This program
// does not change it: see docs/decisions/volume-templates.md.
func (j *Job) templates(s *state) (notes []string) {
	for _, set := range s.members.Sets() {
		template := j.smallTemplate(set)
		if template == nil {
			continue
		}
		size := template.Spec.Resources.Requests[corev1.ResourceStorage]
		notes = append(notes, fmt.Sprintf("Next: the claim template %s of StatefulSet %s requests %s, so a new or replaced member gets a volume of that size. "+
			"After such a change, run this again: kubectl etcd volume grow %s --size %s -n %s. "+
			"To change the template, set %s in the chart or manifest of the StatefulSet, delete it without its pods (kubectl delete statefulset %s -n %s --cascade=orphan), and apply it again at once.",
			template.Name, set.Name, size.String(), j.Owner.Target(), j.Size.String(), set.Namespace, j.Size.String(), set.Name, set.Namespace)+lostAnnotations(set, j.Owner))
	}
	return notes
}

// annotationPrefix begins the names of this program's annotations.
const annotationPrefix = "kubectl-etcd.dev/"

// lostAnnotations returns which annotations of this program a StatefulSet no longer has when it was created again from
// its manifest, and how to keep them. It is empty if there are none.
func lostAnnotations(set *appsv1.StatefulSet, o owner.Owner) string {
	var keys []string
	for key := range set.Annotations {
		if strings.HasPrefix(key, annotationPrefix) {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return ""
	}
	slices.Sort(keys)
	text := fmt.Sprintf(" Before that, make sure that the manifest has these annotations of the StatefulSet: %s.", strings.Join(keys, ", "))
	if _, scheduled := set.Annotations[v1alpha1.BackupLeaseAnnotation]; scheduled {
		text += fmt.Sprintf(" Without them, it is not reported when backups stop. If snapshots are scheduled, repeat the command of the schedule afterwards: kubectl etcd snapshot schedule %s --to URL -n %s, with the flags from before.", o.Target(), o.Namespace)
	}
	return text
}

// smallTemplate returns the template of the members' data claims, nil if it has the size.
func (j *Job) smallTemplate(set *appsv1.StatefulSet) *corev1.PersistentVolumeClaim {
	for i, t := range set.Spec.VolumeClaimTemplates {
		size := t.Spec.Resources.Requests[corev1.ResourceStorage]
		if size.Cmp(j.Size) >= 0 {
			continue
		}
		for pod, at := range j.claims {
			if at.claim == t.Name+"-"+pod && owner.OrdinalOf(pod, set.Name, 0) >= 0 {
				return &set.Spec.VolumeClaimTemplates[i]
			}
		}
	}
	return nil
}

// quota returns what the quota of the databases leaves unused. A defragmentation needs a second copy of the
// database on the volume.
func (j *Job) quota(s *state) []string {
	room := min(j.Size.Value()/2, policy.AdvisedQuota)
	for _, d := range s.members.Databases() {
		if d.Quota > 0 && d.Quota < room {
			return []string{fmt.Sprintf("etcd accepts writes until a database has %s (--quota-backend-bytes). The volumes leave room for up to %s.", policy.Bytes(d.Quota), policy.Bytes(room))}
		}
	}
	return nil
}
