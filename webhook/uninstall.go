// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// uninstallHandler releases the rollouts that are held before a deletion takes the permission to do so,
// as kubectl delete -k does. The API server completes the deletion only after the answer, so this is
// the last moment at which etcd-webhook may still write. It never refuses.
type uninstallHandler struct {
	reader       *observe.Reader
	statefulSets StatefulSetPatcher
	clock        clock.PassiveClock
}

// StatefulSetPatcher patches StatefulSets. A client is one.
type StatefulSetPatcher interface {
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
}

// releaseTries is how often a StatefulSet is read again that another client wrote meanwhile. Its
// controller writes it after each step of a pod.
const releaseTries = 5

func (h *uninstallHandler) decide(ctx context.Context, req admission.Request) Decision {
	if !entries.Uninstalls(req.Resource.Resource, req.Name) {
		return Decision{Outcome: Ignored, Reason: reasons.NothingToDo}
	}
	var sets appsv1.StatefulSetList
	if err := h.reader.List(ctx, &sets); err != nil {
		return h.left("the held rollouts are not known: " + err.Error())
	}
	dry := req.DryRun != nil && *req.DryRun
	var r releases
	for _, sts := range heldInOrder(sets.Items) {
		h.judge(ctx, sts, dry, &r)
	}
	return r.decision(h.budgetsKept(ctx, req))
}

// judge releases the rollout of a StatefulSet if the rule about removal does.
func (h *uninstallHandler) judge(ctx context.Context, sts *appsv1.StatefulSet, dry bool, r *releases) {
	name := fmt.Sprintf("the rollout of StatefulSet %s/%s", sts.Namespace, sts.Name)
	removal, one := rollouts.ReadRemoval(ctx, h.reader, sts), rollouts.RestoredToOne(sts, h.clock.Now())
	why, err := removal.StaysHeld(), ctx.Err()
	switch {
	case err != nil:
	case why != "" && removal.Unread == "":
		r.unwell = append(r.unwell, name+" stays held: "+why)
		return
	case why != "":
		err = errors.New(why)
	default:
		err = h.release(ctx, sts, dry)
	}
	if err != nil {
		r.failed = append(r.failed, fmt.Sprintf("%s stays held: %v", name, err))
		return
	}
	log.FromContext(ctx).Info("released a rollout, because the program is being uninstalled", "namespace", sts.Namespace, "statefulset", sts.Name)
	released := name + " is not held any more: etcd-webhook is being uninstalled"
	if one != "" {
		released += "; its maxUnavailable is 1 now instead of " + one + ", because pods are left to restart"
	}
	r.released = append(r.released, released)
}

// repair is the command that restores what is left of a program that was deleted.
const repair = "kubectl etcd webhook uninstall"

// left returns the Decision if nothing could be released.
func (h *uninstallHandler) left(why string) Decision {
	return Decision{Outcome: FailedOpen, Reason: reasons.UninstallIncomplete, Warnings: []string{why + ". To release them, after this command:", repair}}
}

// release restores the author's update strategy, unless the StatefulSet was deleted.
func (h *uninstallHandler) release(ctx context.Context, sts *appsv1.StatefulSet, dry bool) error {
	for range releaseTries {
		patch, err := rollouts.Restore(sts, h.clock.Now())
		if err != nil || patch == nil || dry {
			return err
		}
		err = h.statefulSets.Patch(ctx, sts.DeepCopy(), patch)
		if !apierrors.IsConflict(err) {
			return client.IgnoreNotFound(err)
		}
		var now appsv1.StatefulSet // a new one, since a read into an object leaves the annotations that are removed
		if err := cmp.Or[client.Reader](h.reader.Live, h.reader).Get(ctx, client.ObjectKeyFromObject(sts), &now); err != nil {
			return client.IgnoreNotFound(err)
		}
		*sts = now
	}
	return fmt.Errorf("other clients changed it in each of %d attempts", releaseTries)
}

// budgetsKept returns warnings about the disruption budgets that keep their number. Only the first of
// the deletions has them. The leader, which still runs, would tighten a budget that is restored now.
func (h *uninstallHandler) budgetsKept(ctx context.Context, req admission.Request) []string {
	if req.Resource.Resource != entries.Definitions {
		return nil
	}
	var budgets policyv1.PodDisruptionBudgetList
	if err := h.reader.List(ctx, &budgets); err != nil {
		return nil
	}
	kept := slices.DeleteFunc(budgets.Items, func(b policyv1.PodDisruptionBudget) bool {
		return b.Annotations[v1alpha1.BudgetForAnnotation] == ""
	})
	if len(kept) == 0 {
		return nil
	}
	return []string{policy.Plural(len(kept), "disruption budget keeps", "disruption budgets keep") + " the number that etcd-webhook set. To restore it, after this command:", repair}
}
