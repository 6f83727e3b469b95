// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// heldInOrder returns the StatefulSets whose rollout is held, one of each namespace after the other: the
// time is limited, and a namespace with many of them must not use all of it. Those without replicas are
// the last, since nothing of them restarts.
func heldInOrder(all []appsv1.StatefulSet) []*appsv1.StatefulSet {
	type class struct {
		stopped   int
		namespace string
	}
	type queued struct {
		class
		number int
		set    *appsv1.StatefulSet
	}
	var queue []queued
	seen := map[class]int{}
	for i := range all {
		sts := &all[i]
		if !rollouts.Recorded(sts.Annotations) {
			continue
		}
		c := class{namespace: sts.Namespace}
		if stopped(sts) {
			c.stopped = 1
		}
		queue = append(queue, queued{c, seen[c], sts})
		seen[c]++
	}
	slices.SortFunc(queue, func(a, b queued) int {
		return cmp.Or(cmp.Compare(a.stopped, b.stopped), cmp.Compare(a.number, b.number), strings.Compare(a.namespace, b.namespace))
	})
	var out []*appsv1.StatefulSet
	for _, t := range queue {
		out = append(out, t.set)
	}
	return out
}

func stopped(sts *appsv1.StatefulSet) bool { return ptr.Deref(sts.Spec.Replicas, 1) == 0 }

// releases are warnings about the rollouts that were held.
type releases struct{ failed, unwell, released []string }

// mostReleases is how many rollouts the warnings name. The API server limits the warnings of a response.
const mostReleases = 10

// sweepHeld is the command that releases the rollouts whose clusters are well by then.
const sweepHeld = "kubectl etcd sweep -A --remove"

// decision returns the Decision, with the commands that repair what stays before the names.
func (r *releases) decision(budgets []string) Decision {
	d := Decision{Outcome: Unchanged, Reason: reasons.NothingToDo}
	named := slices.Concat(r.failed, r.unwell, r.released)
	switch {
	case len(r.failed) > 0:
		d.Outcome, d.Reason = FailedOpen, reasons.UninstallIncomplete
		d.Warnings = append(d.Warnings, "to release the rollouts that could not be released, after this command:", repair)
	case len(r.unwell) > 0 || len(budgets) > 0:
		d.Outcome, d.Reason = Warned, reasons.UninstallIncomplete
	case len(r.released) > 0:
		d.Outcome, d.Reason = Warned, reasons.UninstallReleased
	}
	if len(r.unwell) > 0 {
		d.Warnings = append(d.Warnings, "to release the rollouts of clusters that are not well, when all their members are ready:", sweepHeld)
	}
	if len(r.failed) == 0 {
		d.Warnings = append(d.Warnings, budgets...)
	}
	more := len(named) - mostReleases
	d.Warnings = append(d.Warnings, named[:min(len(named), mostReleases)]...)
	if more > 0 {
		d.Warnings = append(d.Warnings, fmt.Sprintf("%d more rollouts were held; %d of all stay held", more, len(r.failed)+len(r.unwell)))
	}
	return d
}
