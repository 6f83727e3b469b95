// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package unschedulable

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

const (
	// deletionKept is how long a deletion is remembered without a pod of that name.
	deletionKept = time.Hour
	// maxDeletions bounds the deletions that are remembered. With so many, no other pod is deleted.
	maxDeletions = 1000
)

// deletion is a pod that was deleted, and for which terms.
type deletion struct {
	uid   types.UID
	terms []spread.Term
	// at is when a pod of that name was last evaluated.
	at time.Time
	// reported is the pod that was last reported to have the same terms again.
	reported types.UID
}

// keepDeletion removes what a pod does not have again from the terms for which the pod before it was deleted.
func (u *Reconciler) keepDeletion(pod *corev1.Pod, owner owner.Owner) {
	key := client.ObjectKeyFromObject(pod)
	d, known := u.deleted.Get(key)
	if !known {
		return
	}
	d.at = u.Clock.Now()
	d.terms = slices.DeleteFunc(slices.Clone(d.terms), func(t spread.Term) bool { return !terms.Has(pod, t, owner) })
	u.deleted.Swap(key, d)
}

// mayDelete reports whether a pod has an obsolete term for which no pod of its name was deleted. If it has
// none, that is recorded as an Event of the pod.
func (u *Reconciler) mayDelete(pod *corev1.Pod, owner owner.Owner, found []obsolete) bool {
	key := client.ObjectKeyFromObject(pod)
	d, known := u.deleted.Get(key)
	if !known {
		return len(u.deleted.All()) < maxDeletions
	}
	if slices.ContainsFunc(found, func(o obsolete) bool { return !slices.Contains(d.terms, o.term) }) {
		return true
	}
	if d.reported != pod.UID && d.uid != pod.UID {
		d.reported = pod.UID
		u.deleted.Swap(key, d)
		u.warnOnPod(pod, owner, policy.NewNote(reasons.TermRequiredAgain,
			"pod %s was deleted because it was required to run in %s, and admission requires that again: another webhook changes the pod after this one. It is not deleted again",
			pod.Name, terms.DescribeOne(found[0].term)), actionRespread)
	}
	return false
}

// dropDeletion removes the deletion of a pod that was not created again for long. It returns when to do so,
// 0 for never.
func (u *Reconciler) dropDeletion(key client.ObjectKey) time.Duration {
	d, known := u.deleted.Get(key)
	if !known {
		return 0
	}
	if rest := deletionKept - u.Clock.Since(d.at); rest > 0 {
		return rest
	}
	u.deleted.Remove(key)
	return 0
}
