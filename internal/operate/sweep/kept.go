// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/olddata"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// findKept returns the clusters of which restores keep old data.
func (v *view) findKept(ctx context.Context) ([]Item, error) {
	owners, err := v.readOwners(ctx)
	if err != nil {
		return nil, err
	}
	var items []Item
	for at := range owners {
		if kept := restore.KeptOf(owners[at]); len(kept) > 0 {
			items = append(items, v.keptItem(ctx, owners[at], kept))
		}
	}
	return items, nil
}

// keptItem reads the facts. The members are asked only if a deadline has passed.
func (v *view) keptItem(ctx context.Context, o owner.Owner, kept []annotation.KeptData) Item {
	resource := o.Resource()
	i := Item{Resource: resource.Resource, Group: resource.Group, Owner: &o, needs: append(lock.Needs(o), olddata.DiscardNeeds(o, kept)...), object: &metav1.PartialObjectMetadata{
		ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, UID: o.UID},
	}}
	i.Since = slices.MinFunc(kept, func(a, b annotation.KeptData) int { return a.At.Compare(b.At) }).At
	i.note = deadlines(kept, v.now)
	f := &i.Facts
	f.Locked, f.Unfinished = v.locked(ctx, o.Namespace, lock.Name(o)), v.unfinished(ctx, o)
	i.due = slices.DeleteFunc(slices.Clone(kept), func(k annotation.KeptData) bool { return !k.Due(v.now) })
	f.Due = rules.Of(len(i.due) > 0)
	if f.Due != rules.Yes || f.Locked == rules.Yes || f.Unfinished == rules.Yes {
		return i
	}
	s, err := v.survey(ctx, o)
	if err != nil {
		f.Well = v.unsure("the members of "+o.String(), err)
		return i
	}
	f.Well = rules.Of(restore.Agree(s, int(o.Replicas), 0) == nil)
	return i
}

// deadlines describes which old data is due, and when the rest will be.
func deadlines(kept []annotation.KeptData, now time.Time) string {
	var parts []string
	for _, k := range kept {
		until := format.Time(k.Until)
		text := "will be due at " + until
		switch {
		case k.Until.IsZero():
			text = "has no deadline"
		case k.Due(now):
			text = "has been due since " + until
		}
		parts = append(parts, fmt.Sprintf("that of %s %s", format.Time(k.At), text))
	}
	return strings.Join(parts, ", ")
}
