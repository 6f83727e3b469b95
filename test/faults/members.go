// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// killMember kills a member's process. The kubelet starts it again.
func killMember(ctx context.Context, w *world, s Step) (string, func(context.Context) error, error) {
	return w.stopMember(ctx, s, func(_ context.Context, m clusters.Member) (func(context.Context) error, error) {
		_, err := clusters.Signal(m.Pod.UID, clusters.IsEtcd, syscall.SIGKILL)
		return func(context.Context) error { return nil }, err
	})
}

// freezeMember stops a member's process, until the fault ends or the kubelet kills it. It waits
// until the pod is known to be unready.
func freezeMember(ctx context.Context, w *world, s Step) (string, func(context.Context) error, error) {
	return w.stopMember(ctx, s, func(ctx context.Context, m clusters.Member) (func(context.Context) error, error) {
		thaw, err := clusters.Freeze(m.Pod.UID, clusters.IsEtcd)
		if err != nil {
			return nil, err
		}
		w.awaitKnown(ctx, m.Pod.Name)
		return func(context.Context) error {
			thaw()
			return nil
		}, nil
	})
}

// isolateNode cuts the node of a member off the network. It waits until the pod is known to be
// unready.
func isolateNode(ctx context.Context, w *world, s Step) (string, func(context.Context) error, error) {
	return w.stopMember(ctx, s, func(ctx context.Context, m clusters.Member) (func(context.Context) error, error) {
		all, err := w.cluster.Members(ctx)
		if err != nil {
			return nil, err
		}
		for _, other := range all {
			if other.Node == m.Node && other.Pod.Name != m.Pod.Name {
				return nil, fmt.Errorf("%s also runs on %s", other.Pod.Name, m.Node)
			}
		}
		if err := w.bed.CutNode(ctx, m.Node); err != nil {
			return nil, errors.Join(err, w.bed.HealNode(ctx, m.Node))
		}
		w.awaitKnown(ctx, m.Pod.Name)
		return func(ctx context.Context) error { return w.bed.HealNode(ctx, m.Node) }, nil
	})
}

// stopMember stops a member if a quorum of others is Ready. Otherwise, as while a rollout is in
// progress, the step does nothing.
func (w *world) stopMember(ctx context.Context, s Step, stop func(context.Context, clusters.Member) (func(context.Context) error, error)) (string, func(context.Context) error, error) {
	pod := w.pod(s.Member)
	if !w.awaitSpare(ctx, pod) {
		return "left out: the others are no quorum", nil, nil
	}
	m, err := w.cluster.Member(ctx, s.Member)
	if err != nil {
		return "left out: " + err.Error(), nil, nil //nolint:nilerr // a step that is not possible is an outcome
	}
	w.disturb(&m.Pod)
	end, err := stop(ctx, m)
	if err != nil {
		// The pod may have been removed a moment ago. The member counts as disturbed until it is
		// Ready, because it may be stopped in part.
		w.awaitReturn(ctx, pod)
		return "left out: " + err.Error(), nil, nil //nolint:nilerr // a step that is not possible is an outcome
	}
	return "on " + m.Node, func(ctx context.Context) error {
		err := end(ctx)
		w.awaitReturn(ctx, pod)
		return err
	}, nil
}
