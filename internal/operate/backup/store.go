// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package backup takes snapshots. It chooses the member that provides one for a file, and
// has etcd-backup-restore, druid's sidecar of each member, write one into the backup store.
// If no sidecar can be reached, a task of etcd-druid does the same. The package prints
// nothing; the files of snapshots are those of internal/snapshot.
package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// Kind is a kind of snapshot in a backup store.
type Kind string

// A full snapshot has all data, a delta the changes since the last snapshot.
const (
	Full  Kind = "full"
	Delta Kind = "delta"
)

// Store is the backup store of a cluster.
type Store struct {
	owner.Owner

	Kube   client.Client
	Reader *observe.Reader
	// Members are asked which of them leads. Nil means that they can't be reached.
	Members *etcd.Cluster
	Tunnel  *tunnel.Dialer
	Clock   clock.Clock
	// Require returns an error if the user lacks a permission.
	Require func(ctx context.Context, needs []operate.Need) error
	// Logf reports a completed step, Progressf what is awaited, and Warnf a warning.
	Logf, Progressf, Warnf func(format string, args ...any)

	// Store is where the store is. Find fills it in.
	backupstore.Store

	// byTask means that the sidecars can't be used, so that only a task is left.
	byTask bool
	// dial replaces Sidecars in tests.
	dial func(ctx context.Context) (sidecar, error)
}

// Find reads where the store is. It refuses a cluster that has none.
func (s *Store) Find(ctx context.Context) error {
	found, ok, err := backupstore.Of(ctx, s.Reader, s.Owner)
	switch {
	case err != nil:
		return err
	case !s.Product().BackupRestore:
		return s.refuse("it is not a cluster of etcd-druid and has no etcd-backup-restore; save to a file instead")
	case !ok:
		return s.refuse("it has no backup store (%s); save to a file instead", s.Product().Fields[flavour.Store])
	}
	s.Store = found
	return nil
}

func (s *Store) refuse(format string, args ...any) error {
	return operate.RefuseTo(fmt.Sprintf("take a snapshot with backup-restore of %s", s.Owner), format, args...)
}

// name describes the store.
func (s *Store) name() string {
	return fmt.Sprintf("%s store %s", s.Provider, cmp.Or(s.Container, s.Prefix))
}

// chooseWay finds out whether the user may use the sidecars, or only a task of etcd-druid.
// It fails if the user may use neither. With planOnly it asks for no permission.
func (s *Store) chooseWay(ctx context.Context, planOnly bool) error {
	s.byTask = s.TLS && s.CAErr != nil
	if !planOnly {
		if err := s.requireWay(ctx); err != nil {
			return err
		}
	}
	if !s.byTask {
		return nil
	}
	if obstacle := s.taskObstacle(ctx); obstacle != "" {
		return s.refuse("%s", obstacle)
	}
	return nil
}

func (s *Store) requireWay(ctx context.Context) error {
	if s.byTask {
		if err := s.Require(ctx, s.taskNeeds()); err != nil {
			return fmt.Errorf("%w\nWithout a task the sidecars are asked. For that you need to read the authority of their certificate: %w", err, s.CAErr)
		}
		return nil
	}
	err := s.Require(ctx, []operate.Need{{Verb: "create", Resource: "pods", Subresource: "portforward", Namespace: s.Namespace}})
	if _, missing := errors.AsType[*operate.MissingError](err); missing && s.Require(ctx, s.taskNeeds()) == nil {
		s.byTask = true
		return nil
	}
	return err
}

// Judge finds the store, chooses the way to it and returns the plan. With planOnly it checks
// no permission.
func (s *Store) Judge(ctx context.Context, kind Kind, planOnly bool) (operate.Plan, error) {
	if err := s.Find(ctx); err != nil {
		return operate.Plan{}, err
	}
	if err := s.chooseWay(ctx, planOnly); err != nil {
		return operate.Plan{}, err
	}
	return s.plan(ctx, kind), nil
}

// plan describes what Take will do.
func (s *Store) plan(ctx context.Context, kind Kind) operate.Plan {
	plan := operate.Plan{Title: fmt.Sprintf("take a %s snapshot with backup-restore of %s", kind, s.Owner), Subject: s.name()}
	if leases, err := backupstore.Leases(ctx, s.Reader, s.Owner); err == nil {
		for _, l := range leases {
			if l.Revision > 0 {
				plan.Facts = append(plan.Facts, fmt.Sprintf("according to lease %s, the store has had revision %d since %s", l.Name, l.Revision, format.Time(l.RenewedAt)))
			}
		}
	}
	step := fmt.Sprintf("ask the sidecar beside etcd's leader to write it into %s; if you can't reach a sidecar, etcd-druid is asked by an EtcdOpsTask", s.name())
	if s.byTask {
		step = fmt.Sprintf("ask etcd-druid by an EtcdOpsTask to write it into %s: the sidecars can't be asked from here", s.name())
	}
	plan.Steps = []string{step}
	return plan
}

// Try tries what has a dry run: a task has one, a sidecar has none.
func (s *Store) Try(ctx context.Context, kind Kind) error {
	if !s.byTask {
		return nil
	}
	if err := s.Kube.Create(ctx, s.task(kind), client.DryRunAll); err != nil {
		return fmt.Errorf("create an EtcdOpsTask for %s: %w", s.Owner, err)
	}
	return nil
}
