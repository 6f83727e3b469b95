// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// pollPeriod is the time between two reads of an object that is awaited.
const pollPeriod = 300 * time.Millisecond

// AwaitGone waits until the objects that Remove deletes do not exist any more. A volume claim, for
// example, exists until no pod uses it.
func (s *Sweeper) AwaitGone(ctx context.Context, items []Item) error {
	for at := range items {
		if act(&items[at]) != actDelete {
			continue
		}
		for {
			gone, err := s.gone(ctx, &items[at])
			if err != nil {
				return fmt.Errorf("wait until %s is gone: %w", &items[at], err)
			}
			if gone {
				break
			}
			if err := operate.Pause(ctx, s.Clock, pollPeriod); err != nil {
				return fmt.Errorf("wait until %s is gone: %w", &items[at], err)
			}
		}
	}
	return nil
}

// gone reports whether the object of an item does not exist, or is another one of its name.
func (s *Sweeper) gone(ctx context.Context, i *Item) (bool, error) {
	now, ok := i.object.DeepCopyObject().(client.Object)
	if !ok {
		return false, fmt.Errorf("it is not an object")
	}
	err := s.Kube.Get(ctx, client.ObjectKeyFromObject(i.object), now)
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return err == nil && now.GetUID() != i.object.GetUID(), err
}
