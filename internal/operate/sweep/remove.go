// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// Remove removes items that a user agreed to. It reads and judges each one again, just before the
// write, and the write fails if the object has changed since. A failure for one does not stop the
// others. It returns a *operate.RefusedError for those that the rule does not allow any more.
func (s *Sweeper) Remove(ctx context.Context, items []Item) error {
	var failed []error
	var why []string
	for at := range items {
		if err := context.Cause(ctx); err != nil {
			return errors.Join(append(failed, err)...)
		}
		refusal, err := s.removeOne(ctx, &items[at])
		if err != nil {
			failed = append(failed, err)
		}
		if refusal != "" {
			why = append(why, refusal)
		}
	}
	if len(why) > 0 {
		failed = append(failed, &operate.RefusedError{What: "remove what is now in use", Why: why})
	}
	return errors.Join(failed...)
}

// removeOne removes an item. It returns a text if the rule does not allow that any more.
func (s *Sweeper) removeOne(ctx context.Context, agreed *Item) (refusal string, err error) {
	now, err := s.again(ctx, agreed)
	switch {
	case err != nil:
		return "", err
	case now == nil:
		s.Logf("%s does not exist any more", agreed)
		return "", nil
	case now.Result.Action != agreed.Result.Action:
		return fmt.Sprintf("%s: %s", now, now.Result.Message), nil
	}
	now.due = agreed.due // what has become due since was shown as data that stays
	what := act(now)
	err = s.write(ctx, now, false)
	switch {
	case apierrors.IsNotFound(err):
		s.Logf("%s does not exist any more", now)
		return "", nil
	case apierrors.IsConflict(err):
		return fmt.Sprintf("%s: another client has changed it since it was read", now), nil
	case err != nil:
		return "", err
	}
	s.Logf("%s: done: %s", now, what)
	if s.Removed != nil {
		s.Removed(ctx, now)
	}
	return "", nil
}

// Try has the API server try each write. It returns a *operate.RefusedError with all that it rejects.
func (s *Sweeper) Try(ctx context.Context, items []Item) error {
	var why []string
	for at := range items {
		if err := s.write(ctx, &items[at], true); client.IgnoreNotFound(err) != nil {
			why = append(why, err.Error())
		}
	}
	if len(why) > 0 {
		return &operate.RefusedError{What: "remove what is left over", Why: why}
	}
	return nil
}

// write removes an item in exactly the version that was read. With dry the API server only tries it.
func (s *Sweeper) write(ctx context.Context, i *Item, dry bool) error {
	if i.Facts.Kind == rules.KeptData {
		err := s.Discard(ctx, *i.Owner, i.due, dry)
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			err = errors.New(err.Error()) // of another object than that of the item
		}
		return err
	}
	switch o := i.object.(type) {
	case *appsv1.StatefulSet:
		return s.Webhook.RestoreRollout(ctx, o, dry)
	case *policyv1.PodDisruptionBudget:
		if !created(o) {
			return s.Webhook.RestoreBudget(ctx, o, dry)
		}
	case *coordinationv1.Lease:
		if i.Facts.Kind == rules.Lock && !dry {
			if err := s.awaitDead(ctx, i, o); err != nil {
				return err
			}
		}
	}
	return s.delete(ctx, i, dry)
}

// awaitDead watches the lock of a holder that seems dead. It returns a *lock.HeldError if the holder
// renews it.
func (s *Sweeper) awaitDead(ctx context.Context, i *Item, lease *coordinationv1.Lease) error {
	if !lock.HasHolder(lease) {
		return nil
	}
	_, err := lock.AwaitFree(ctx, s.Kube, client.ObjectKeyFromObject(lease), lock.Claim{Cluster: "the cluster of " + i.String(), Clock: s.Clock, Waiting: s.Waiting})
	return err
}

func (s *Sweeper) delete(ctx context.Context, i *Item, dry bool) error {
	uid, version := i.object.GetUID(), i.object.GetResourceVersion()
	options := []client.DeleteOption{client.Preconditions{UID: &uid, ResourceVersion: &version}}
	if dry {
		options = append(options, client.DryRunAll)
	}
	object, ok := i.object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("delete %s: it is not an object", i)
	}
	if err := s.Kube.Delete(ctx, object, options...); err != nil {
		return fmt.Errorf("delete %s: %w", i, err)
	}
	return nil
}
