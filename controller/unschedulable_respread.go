// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	// told is the pod that was last reported to have the same terms again.
	told types.UID
}

// respread deletes a pod that would get other terms from admission now. It reads the pod
// from the API server: the cache doesn't hold its spec, and the scheduler may have found a
// node meanwhile. It returns when to evaluate the pod again.
func (u *Unschedulable) respread(ctx context.Context, key client.ObjectKey, owner owner.Owner) (time.Duration, error) {
	var pod corev1.Pod
	if err := u.Reader.Live.Get(ctx, key, &pod); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	record, ok := spreadRecordOf(&pod)
	if _, waits := unschedulableSince(&pod); !ok || !waits || pod.DeletionTimestamp != nil {
		return 0, nil
	}
	u.keepDeletion(&pod, owner)
	found, err := u.obsolete(ctx, &pod, owner, record)
	if err != nil || len(found) == 0 {
		return unschedulableRecheck, err
	}
	if rest := longest(found); rest > 0 {
		return min(rest, unschedulableRecheck), nil
	}
	if !u.mayDelete(&pod, owner, found) {
		return unschedulableRecheck, nil
	}
	return u.delete(ctx, &pod, owner, found)
}

// delete deletes a pod for its obsolete terms, and remembers that.
func (u *Unschedulable) delete(ctx context.Context, pod *corev1.Pod, owner owner.Owner, found []obsolete) (time.Duration, error) {
	// Only the version that was evaluated may be deleted.
	err := u.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return batchWindow, nil
	}
	if err != nil {
		return 0, fmt.Errorf("delete unschedulable pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	u.deleted.update(client.ObjectKeyFromObject(pod), func(d deletion) deletion {
		d.uid, d.at = pod.UID, u.Clock.Now()
		for _, o := range found {
			d.terms = append(d.terms, o.term)
		}
		return d
	})
	warn(u.Recorder, owner, policy.Note{Reason: reasons.MemberRespread, Message: fmt.Sprintf(
		"deleted pod %s, which found no node for %s: it was required to run in %s, and %s",
		pod.Name, unschedulableFor, terms.DescribeOne(found[0].term), found[0].why)}, actionRespread)
	return 0, nil
}

// keepDeletion removes what a pod does not have again from the terms for which the pod before it was deleted.
func (u *Unschedulable) keepDeletion(pod *corev1.Pod, owner owner.Owner) {
	key := client.ObjectKeyFromObject(pod)
	d, known := u.deleted.get(key)
	if !known {
		return
	}
	d.at = u.Clock.Now()
	d.terms = slices.DeleteFunc(slices.Clone(d.terms), func(t spread.Term) bool { return !terms.Has(pod, t, owner) })
	u.deleted.swap(key, d)
}

// mayDelete reports whether a pod has an obsolete term for which no pod of its name was deleted. If it has
// none, that is recorded as an Event of the pod.
func (u *Unschedulable) mayDelete(pod *corev1.Pod, owner owner.Owner, found []obsolete) bool {
	key := client.ObjectKeyFromObject(pod)
	d, known := u.deleted.get(key)
	if !known {
		return len(u.deleted.all()) < maxDeletions
	}
	if slices.ContainsFunc(found, func(o obsolete) bool { return !slices.Contains(d.terms, o.term) }) {
		return true
	}
	if d.told != pod.UID && d.uid != pod.UID {
		d.told = pod.UID
		u.deleted.swap(key, d)
		warnOnPod(u.Recorder, pod, owner, policy.NewNote(reasons.TermRequiredAgain,
			"pod %s was deleted because it was required to run in %s, and admission requires that again: another webhook changes the pod after this one. It is not deleted again",
			pod.Name, terms.DescribeOne(found[0].term)), actionRespread)
	}
	return false
}

// dropDeletion removes the deletion of a pod that was not created again for long. It returns when to do so,
// 0 for never.
func (u *Unschedulable) dropDeletion(key client.ObjectKey) time.Duration {
	d, known := u.deleted.get(key)
	if !known {
		return 0
	}
	if rest := deletionKept - u.Clock.Since(d.at); rest > 0 {
		return rest
	}
	u.deleted.remove(key)
	return 0
}
