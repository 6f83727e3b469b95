// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// heal checks that the cluster becomes healthy after the last step, that no acknowledged write is
// lost, and that no object changes any more.
func (w *world) heal(ctx context.Context) error {
	w.begin(ctx, Step{Fault: "none: the cluster heals"})
	if err := w.restoreSize(ctx); err != nil {
		return err
	}
	for _, c := range []struct {
		what string
		is   clusters.ConditionFunc
	}{
		{"all replicas of etcd-webhook", w.replicasReady},
		{"the policy to be in force", w.inForce},
		{"the rollout to be complete", w.rolledOut},
	} {
		if err := clusters.Await(ctx, limit, c.what, c.is); err != nil {
			return err
		}
	}
	if err := w.cluster.WaitReadyWithin(ctx, limit); err != nil {
		return err
	}
	if err := clusters.Await(ctx, limit, "all members to answer", w.allAnswer); err != nil {
		return err
	}
	if _, err := w.cluster.AwaitMin(ctx, limit, policy.Quorum(w.size), policy.AllReady.Name()); err != nil {
		return err
	}
	if err := clusters.Await(ctx, limit, "all objects to stay unchanged", w.quiet()); err != nil {
		return err
	}
	if err := w.asWritten(ctx); err != nil {
		return err
	}
	w.ledger.end()
	w.did("healed: %s", w.ledger)
	return w.ledger.readBack(ctx, w.cluster)
}

// restoreSize writes the original replicas, if a request to scale was admitted although its
// response was an error. What the plugin scaled, it also scales back: etcd has more members, too.
func (w *world) restoreSize(ctx context.Context) error {
	if w.kind == Scaled {
		return clusters.Await(ctx, limit, fmt.Sprintf("a scale to %d members", w.initial), w.scaledBack)
	}
	set, err := w.cluster.StatefulSet(ctx)
	if err != nil || int(*set.Spec.Replicas) == w.size {
		return err
	}
	w.saw("the StatefulSet still has %d replicas", *set.Spec.Replicas)
	return w.cluster.Scale(ctx, w.size)
}

// allAnswer reports whether all members answer and know the same leader.
func (w *world) allAnswer(ctx context.Context) (string, bool, error) {
	all, err := w.cluster.Health(ctx)
	if err != nil {
		return "", false, err
	}
	good := len(all) == w.size
	for _, h := range all {
		good = good && h.Err == nil && h.Leader != 0 && h.Leader == all[0].Leader
	}
	return fmt.Sprintf("%+v", all), good, nil
}

// calm is how long no object may change before the cluster counts as at rest.
const calm = 10 * time.Second

// quiet returns a condition: the versions of the StatefulSet, of its pods, of the budgets and of the
// policy have not changed for a while. A program that writes again and again never lets it be true.
func (w *world) quiet() clusters.ConditionFunc {
	var before string
	var since time.Time
	return func(ctx context.Context) (string, bool, error) {
		versions, err := w.versions(ctx)
		if err != nil {
			return "", false, err
		}
		if versions != before {
			seen := fmt.Sprintf("%s, before %s", versions, before)
			before, since = versions, now()
			return seen, false, nil
		}
		return versions, now().Sub(since) >= calm, nil
	}
}

func (w *world) versions(ctx context.Context) (string, error) {
	set, err := w.cluster.StatefulSet(ctx)
	if err != nil {
		return "", err
	}
	all := []string{"StatefulSet " + set.ResourceVersion}
	budgets, _, err := w.budgets(ctx)
	if err != nil {
		return "", err
	}
	for _, b := range budgets {
		all = append(all, fmt.Sprintf("budget %s %s", b.Name, b.ResourceVersion))
	}
	p := w.policy.DeepCopy()
	if err := w.kube.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
		return "", err
	}
	all = append(all, "policy "+p.ResourceVersion)
	var pods corev1.PodList
	if err := w.kube.List(ctx, &pods, client.InNamespace(w.cluster.Namespace)); err != nil {
		return "", err
	}
	for _, pod := range pods.Items {
		all = append(all, fmt.Sprintf("pod %s %s", pod.Name, pod.ResourceVersion))
	}
	return strings.Join(all, ", "), nil
}

// asWritten checks that the objects are as the test wrote them: one budget, the replicas of the
// beginning, and the last template.
func (w *world) asWritten(ctx context.Context) error {
	budgets, _, err := w.budgets(ctx)
	if err != nil {
		return err
	}
	set, err := w.cluster.StatefulSet(ctx)
	if err != nil {
		return err
	}
	stamp := set.Spec.Template.Annotations[stampAnnotation]
	if len(budgets) != 1 || int(*set.Spec.Replicas) != w.size || stamp != w.stamp {
		return fmt.Errorf("%d budgets, want one; %d replicas, want %d; stamp %q, want %q: %w", len(budgets), *set.Spec.Replicas, w.size, stamp, w.stamp, errViolated)
	}
	return nil
}
