// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// Before is a cut that an operation finds in force. The operation may move its end, and leaves it as it
// was. The zero value is no cut.
type Before struct {
	// Ends are the ends of the cut by the names of the Services.
	Ends map[string]time.Time `json:"ends,omitempty"`
	// Record is who cut client traffic, nil if that is not known.
	Record *Record `json:"record,omitempty"`
}

// FindBefore returns the cut of a cluster that is in force at a time.
func FindBefore(ctx context.Context, kube client.Client, r *observe.Reader, o owner.Owner, now time.Time) (Before, error) {
	var b Before
	cut, err := CutServices(ctx, r, o)
	if err != nil {
		return b, err
	}
	for i := range cut {
		if until, valid := observe.CutUntil(&cut[i], now); valid && until.After(now) {
			if b.Ends == nil {
				b.Ends = map[string]time.Time{}
			}
			b.Ends[cut[i].Name] = until
		}
	}
	if len(b.Ends) == 0 {
		return b, nil
	}
	if b.Record, err = recordOf(ctx, kube, o); apierrors.IsForbidden(err) {
		err = nil // the record only informs
	}
	return b, err
}

// Services returns the names of the Services in their order.
func (b Before) Services() []string { return slices.Sorted(maps.Keys(b.Ends)) }

// Until returns the last end, zero without a cut.
func (b Before) Until() time.Time {
	var last time.Time
	for _, end := range b.Ends {
		if end.After(last) {
			last = end
		}
	}
	return last
}

// Leave writes the ends of a cut from before into the Services that are cut, under the cluster's lock, and
// restores the Services that were not cut, or whose end has passed.
func (c *Cluster) Leave(ctx context.Context, held *lock.Lock, b Before) error {
	cut, err := CutServices(ctx, c.Reader, c.Owner)
	if err != nil {
		return err
	}
	var over []string
	left := false
	for i := range cut {
		s := &cut[i]
		end, was := b.Ends[s.Name]
		if !was || !end.After(c.now()) || end.After(c.now().Add(observe.LongestCut)) {
			over = append(over, s.Name)
			continue
		}
		left = true
		if err := c.leave(ctx, held, s, end); err != nil {
			return err
		}
	}
	if left {
		if err := c.RestoreAll(ctx, over); err != nil {
			return err
		}
		return WriteRecord(ctx, held, b.Record)
	}
	if len(over) == 0 {
		return WriteRecord(ctx, held, nil)
	}
	return c.RestoreLocked(ctx, held, over)
}

// leave writes one end, unless the Service has it.
func (c *Cluster) leave(ctx context.Context, held *lock.Lock, s *corev1.Service, end time.Time) error {
	if now, valid := observe.CutUntil(s, c.now()); !valid || !now.Equal(end) {
		if err := held.StillHeld(); err != nil {
			return err
		}
		if err := c.write(ctx, func() error { return writeCut(ctx, c.Kube, s, end) }); err != nil {
			return err
		}
	}
	c.Logf("Service %s stays cut until %s, as before. To end that cut: %s", s.Name, format.Time(end), c.RestoreCommand())
	return nil
}
