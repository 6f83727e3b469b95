// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package restart has the reconciler that restarts members where a user requests it by an annotation.
package restart

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/recorder"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/memory"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/queue"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/write"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// Reconciler restarts members that a user requests to restart, one at a time, by the rule of kubectl etcd restart. It
// knows the members by their pods and leases, and asks no etcd.
//
// All that it must remember is in an annotation of the StatefulSet: the UIDs of the pods from when the restart
// began. So each step can be repeated, another replica continues after any of them, and no pod is stopped twice. A
// pod is only evicted by facts that are read from the API server, and if the budgets and guards admit it.
type Reconciler struct {
	Client   Writer
	Reader   *observe.Reader
	Recorder recorder.EventRecorder
	Clock    clock.PassiveClock

	denied write.Denials[owner.Key]
	// announced has the reason of the last Event.
	announced memory.Keyed[owner.Key, string]
}

// Writer has the methods of a client by which this controller writes.
type Writer interface {
	Patch(ctx context.Context, obj client.Object, patch client.Patch, opts ...client.PatchOption) error
	SubResource(subResource string) client.SubResourceClient
}

// Reconcile does one step of the restarts that are requested of a cluster.
func (c *Reconciler) Reconcile(ctx context.Context, key owner.Key) (reconcile.Result, error) {
	o, found, err := c.Reader.Owner(ctx, key)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !found {
		c.removeState(key)
		return reconcile.Result{}, nil
	}
	s, err := c.read(ctx, o, rollouts.Read)
	if err != nil {
		return reconcile.Result{}, err
	}
	if !s.any() {
		c.denied.Remove(key)
		if request := s.misplaced(); request != "" {
			c.publishNote(o, corev1.EventTypeWarning, policy.NewNote(restart.RequestInvalid, "the request %q is on the StatefulSet, which %s overwrites: set %s on %s", request, o, v1alpha1.RestartRequestAnnotation, o))
			return reconcile.Result{}, nil
		}
		c.announced.Remove(key)
		return reconcile.Result{}, nil
	}
	if wrote, err := c.keepRecords(ctx, &s); wrote || err != nil {
		return c.after(o, err)
	}
	if !s.anyPods() {
		return reconcile.Result{}, nil
	}
	if step := s.next(); step.Kind != restart.Restart {
		c.publish(o, step)
		return reconcile.Result{RequeueAfter: queue.Recheck}, nil
	}
	return c.evict(ctx, o)
}

// evict evicts the next member, by facts that are read from the API server.
func (c *Reconciler) evict(ctx context.Context, o owner.Owner) (reconcile.Result, error) {
	s, err := c.read(ctx, o, rollouts.ReadLive)
	if err != nil {
		return reconcile.Result{}, err
	}
	step := s.next()
	pod := s.Pods[step.Pod]
	switch {
	case !s.begun(), step.Kind == restart.Restart && pod == nil: // it was withdrawn or changed a moment ago
		return reconcile.Result{RequeueAfter: queue.Recheck}, nil
	case step.Kind != restart.Restart:
		c.publish(o, step)
		return reconcile.Result{RequeueAfter: queue.Recheck}, nil
	}
	note, refused, err := c.refuse(ctx, &s, step, pod)
	if err != nil {
		return reconcile.Result{}, err
	}
	if refused {
		c.publish(o, restart.Step{Reason: note.Reason, Message: note.Message})
		return reconcile.Result{RequeueAfter: time.Minute}, nil
	}
	err = c.stop(ctx, pod)
	if err == nil {
		c.publish(o, step)
	}
	return c.after(o, err)
}

// after returns when the next step is decided, after a write.
func (c *Reconciler) after(o owner.Owner, err error) (reconcile.Result, error) {
	switch {
	case passing(err):
		c.denied.Remove(o.Key())
		return reconcile.Result{RequeueAfter: queue.Recheck}, nil
	case write.Answered(err):
		wait := c.denied.Next(o.Key())
		c.publishDenied(o, wait, err)
		return reconcile.Result{RequeueAfter: wait}, nil
	}
	return reconcile.Result{}, fmt.Errorf("restart members of %s: %w", o, err)
}

func (c *Reconciler) removeState(key owner.Key) {
	c.denied.Remove(key)
	c.announced.Remove(key)
}
