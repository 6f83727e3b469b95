// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/rollout"
)

// ReadRemoval reads what decides whether the rollout of a StatefulSet is released when etcd-webhook is
// removed. What can't be read is a fact of it.
func ReadRemoval(ctx context.Context, r *observe.Reader, sts *appsv1.StatefulSet) rollout.Removal {
	out := rollout.Removal{Stopped: owner.ReplicasOf(sts) == 0}
	if out.Stopped {
		return out
	}
	o, found, err := r.OwnerOfStatefulSet(ctx, sts)
	if err == nil && found {
		var facts observe.Facts
		out.InParts = o.InParts()
		facts, err = r.Facts(ctx, o)
		out.Cluster, out.Unconfirmed = facts.Cluster, !facts.Confirmed
		if out.Hidden = err == nil && facts.MayHideHealth(); out.Hidden {
			out.Recorded = recordedUnwell(&facts, o, sts)
		}
	}
	if err == nil && found && !out.Cluster.Single() {
		out.PeersMove, err = anyPeersMove(ctx, r, o, sts)
	}
	if err == nil && found && o.Spans() {
		out.First, err = firstToRestart(ctx, r, o, sts)
	}
	if err != nil {
		out.Unread = err.Error()
		return out
	}
	out.NotEtcd = !found
	return out
}

// recordedUnwell returns the reason by which the controller recorded last that a member is not in order, empty for none.
func recordedUnwell(facts *observe.Facts, o owner.Owner, sts *appsv1.StatefulSet) string {
	if reason := sts.Annotations[v1alpha1.RolloutReasonAnnotation]; observe.ShowsUnwell(reason) {
		return reason
	}
	return facts.RecordedUnwell(o)
}

// ReadRemovalOnce reads the same for a program that reads the leases once, and can't see that one is renewed. What
// the controller has seen is recorded.
func ReadRemovalOnce(ctx context.Context, r *observe.Reader, sts *appsv1.StatefulSet) rollout.Removal {
	out := ReadRemoval(ctx, r, sts)
	out.Unconfirmed = false
	return out
}

// RecordReason returns the patch that records on a StatefulSet why its rollout stays held, nil if that is recorded.
func RecordReason(sts *appsv1.StatefulSet, reason string) (client.Patch, error) {
	if sts.Annotations[v1alpha1.RolloutReasonAnnotation] == reason {
		return nil, nil
	}
	text, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"uid": sts.UID, "resourceVersion": sts.ResourceVersion, "annotations": map[string]any{v1alpha1.RolloutReasonAnnotation: reason},
	}})
	return client.RawPatch(types.MergePatchType, text), err
}

// firstToRestart returns the StatefulSet of a cluster of several whose pods restart before those of another one:
// one that restarts them already, or else the first by name that is held. The controller of each waits for its
// own pods only. It is empty if no pod of the other one restarts, or if that is the first.
func firstToRestart(ctx context.Context, r *observe.Reader, o owner.Owner, of *appsv1.StatefulSet) (string, error) {
	w, err := r.ByName().Workload(ctx, o)
	if err != nil {
		return "", err
	}
	running, first := "", of.Name
	for _, sts := range w.Sets() {
		remains := podsRemain(sts, w.Pods)
		switch {
		case sts.Name == of.Name && !remains:
			return "", nil
		case sts.Name == of.Name || !remains:
		case !Holds(sts):
			running = sts.Name
		case sts.Name < first:
			first = sts.Name
		}
	}
	if first == of.Name {
		first = ""
	}
	return cmp.Or(running, first), nil
}

// AuthorStrategy returns the update strategy that the author of a StatefulSet chose, and whether its rollout is held, so
// that it has another one.
func AuthorStrategy(sts *appsv1.StatefulSet) (author *appsv1.StatefulSetUpdateStrategy, held bool) {
	now := &sts.Spec.UpdateStrategy
	if record, ok := annotation.RecoverRolloutRecord(sts.Annotations, time.Time{}); ok && record.Value == annotation.RolloutValueOf(now) {
		return &record.Author, true
	}
	return now, false
}

// AuthorAnnotation returns the annotation that records a strategy as the one that the author of a StatefulSet chose. The
// rest of the record of its rollout stays.
func AuthorAnnotation(author appsv1.StatefulSetUpdateStrategy) (map[string]string, error) {
	texts, err := annotation.RolloutRecord{Author: author}.Encode()
	const key = v1alpha1.RolloutAuthorAnnotation
	return map[string]string{key: texts[key]}, err
}

// podsRemain reports whether the author's strategy of a StatefulSet restarts pods, or may do so.
func podsRemain(sts *appsv1.StatefulSet, pods []*corev1.Pod) bool {
	strategy, _ := AuthorStrategy(sts)
	author, whole := annotation.RolloutValueOf(strategy), owner.OfStatefulSet(sts)
	if author.OnDelete || owner.ReplicasOf(sts) <= author.Partition {
		return false
	}
	return sts.Status.ObservedGeneration < sts.Generation || slices.ContainsFunc(pods, func(pod *corev1.Pod) bool {
		ref := metav1.GetControllerOfNoCopy(pod)
		return ref != nil && ref.UID == sts.UID && pod.Labels[appsv1.StatefulSetRevisionLabel] != sts.Status.UpdateRevision && whole.Ordinal(pod.Name) >= author.Partition
	})
}
