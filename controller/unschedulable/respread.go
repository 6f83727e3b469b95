// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package unschedulable

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/announce"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// respread deletes a pod that would get other terms from admission now. It reads the pod
// from the API server: the cache doesn't hold its spec, and the scheduler may have found a
// node meanwhile. It returns when to evaluate the pod again.
func (u *Reconciler) respread(ctx context.Context, key client.ObjectKey, owner owner.Owner) (time.Duration, error) {
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
func (u *Reconciler) delete(ctx context.Context, pod *corev1.Pod, owner owner.Owner, found []obsolete) (time.Duration, error) {
	since, _ := unschedulableSince(pod)
	// Only the version that was evaluated may be deleted.
	err := u.Client.Delete(ctx, pod, client.Preconditions{UID: &pod.UID, ResourceVersion: &pod.ResourceVersion})
	if apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
		return conflictWait, nil
	}
	if err != nil {
		return 0, fmt.Errorf("delete unschedulable pod %s/%s: %w", pod.Namespace, pod.Name, err)
	}
	u.deleted.Update(client.ObjectKeyFromObject(pod), func(d deletion) deletion {
		d.uid, d.at = pod.UID, u.Clock.Now()
		for _, o := range found {
			d.terms = append(d.terms, o.term)
		}
		return d
	})
	announce.Warning(u.Recorder, owner, policy.Note{Reason: reasons.MemberRespread, Message: fmt.Sprintf(
		"deleted pod %s, which found no node for %s: it was required to run in %s, and %s",
		pod.Name, policy.Duration(u.Clock.Since(since).Round(time.Minute)), terms.DescribeOne(found[0].term), found[0].why)}, actionRespread)
	return 0, nil
}
