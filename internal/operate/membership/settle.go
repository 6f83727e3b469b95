// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// settleTimeout is how long an operation waits at its end for pods and the StatefulSet's status.
const settleTimeout = time.Minute

const rolloutIncomplete = "the StatefulSet's controller does not report the rollout as complete yet"

// settle waits until the new pods are Ready and the StatefulSet's controller reports the rollout as
// complete. Before that the next operation would be refused, for a member that isn't ready or a
// second rollout of the template.
func (m *Members) settle(ctx context.Context, j *Change) {
	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	var w operate.Waiter
	for {
		now, err := m.unsettled(ctx, j)
		if err != nil || now == "" {
			return
		}
		w.Await(m.Logf, "%s", now)
		if w.Pause(ctx, m.Clock, pollInterval) != nil {
			return
		}
	}
}

// unsettled returns what settle waits for, empty for nothing.
func (m *Members) unsettled(ctx context.Context, j *Change) (string, error) {
	sts, err := operate.ReadStatefulSet(ctx, m.Kube, m.Owner)
	if err != nil {
		return "", err
	}
	if !rolledOut(sts) {
		return rolloutIncomplete, nil
	}
	came := newPods(m.Owner, j)
	if len(came) == 0 {
		return "", nil
	}
	pods, err := m.Reader.MemberPods(ctx, m.Owner)
	if err != nil {
		return "", err
	}
	pods = m.Reader.WithNodes(ctx, pods, m.Clock.Now())
	unready := slices.DeleteFunc(came, func(name string) bool {
		return slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.Name == name && podstate.Ready(p) })
	})
	if len(unready) == 0 {
		return "", nil
	}
	return "not Ready yet, but with a vote: " + strings.Join(unready, ", "), nil
}

// newPods returns the pods that an operation adds.
func newPods(o owner.Owner, j *Change) []string {
	var came []string
	switch {
	case j.Undo:
	case j.Operation == membership.Replace:
		came = append(came, o.PodName(j.Ordinal))
	case j.Operation == membership.ScaleOut:
		for at := j.Replicas; at < j.Target; at++ {
			came = append(came, o.PodName(at))
		}
	}
	return came
}

// rolledOut reports whether a rollout is complete, held back by a partition, or OnDelete.
func rolledOut(sts *appsv1.StatefulSet) bool {
	u, s := sts.Spec.UpdateStrategy, sts.Status
	if s.ObservedGeneration < sts.Generation {
		return false
	}
	heldBack := u.RollingUpdate != nil && u.RollingUpdate.Partition != nil && *u.RollingUpdate.Partition > 0
	return heldBack || u.Type == appsv1.OnDeleteStatefulSetStrategyType || s.UpdateRevision == s.CurrentRevision
}
