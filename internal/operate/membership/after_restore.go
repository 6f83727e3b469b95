// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
)

// ReadAwaiting returns the journal of a restore of which only a scale is left, nil for none.
func ReadAwaiting(ctx context.Context, kube client.Reader, o owner.Owner) (*journal.Journal, error) {
	kept, err := journal.Read(ctx, kube, o)
	if err != nil || kept == nil || kept.ScaleTo == 0 {
		return nil, err
	}
	sts, err := operate.ReadStatefulSet(ctx, kube, o)
	if err != nil || !kept.AwaitsScale(sts) {
		return nil, err
	}
	return kept, nil
}

// ReadScale returns what ReadChange returns, for a scale to so many members. A restore of which only this scale is left
// is no change that is unfinished: the scale takes over its journal. A scale to another number is refused.
func ReadScale(ctx context.Context, kube client.Reader, o owner.Owner, replicas int) (*Change, error) {
	awaits, err := ReadAwaiting(ctx, kube, o)
	switch {
	case err != nil:
		return nil, err
	case awaits == nil:
		return ReadChange(ctx, kube, o)
	case awaits.ScaleTo != replicas:
		return nil, operate.Refuse("%s: %s", o, UnfinishedOther(o, awaits))
	}
	return nil, nil
}

// EndAwaiting removes the journal of a restore that awaits a scale for which nothing is left to do.
func EndAwaiting(ctx context.Context, kube client.Client, o owner.Owner) error {
	awaits, err := ReadAwaiting(ctx, kube, o)
	if err != nil || awaits == nil {
		return err
	}
	return awaits.DeleteUnchanged(ctx, kube)
}
