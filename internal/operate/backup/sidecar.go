// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// unreachableError is that no sidecar can be asked, which means nothing for the backups.
type unreachableError struct{ err error }

func (u *unreachableError) Error() string { return u.err.Error() }
func (u *unreachableError) Unwrap() error { return u.err }

func unreachable(err error) bool {
	_, ok := errors.AsType[*unreachableError](err)
	return ok || apierrors.IsForbidden(err)
}

// sidecar takes snapshots.
type sidecar interface {
	Full(ctx context.Context) (StoredSnapshot, error)
	Delta(ctx context.Context) (StoredSnapshot, bool, error)
}

// Sidecars returns a client of the sidecars. It asks the one of etcd's leader first: only
// that takes snapshots, and the others forward the request to it.
func (s *Store) Sidecars(ctx context.Context) (*Sidecars, error) {
	pods, err := s.Reader.MemberPods(ctx, s.Owner)
	if err != nil {
		return nil, err
	}
	br := &Sidecars{Tunnel: s.Tunnel, Namespace: s.Namespace, Port: s.Port}
	for _, p := range pods {
		br.Pods = append(br.Pods, p.Name)
	}
	if leader := s.leaderPod(ctx); leader != "" {
		br.Pods = append([]string{leader}, slices.DeleteFunc(br.Pods, func(p string) bool { return p == leader })...)
	}
	if !s.TLS {
		return br, nil
	}
	if s.CAErr != nil {
		return nil, &unreachableError{fmt.Errorf("trust backup-restore of %s: %w", s.Owner, s.CAErr)}
	}
	br.TLS, err = sidecarTLS(s.CA, s.ServerName)
	return br, err
}

// leaderPod returns the pod of etcd's leader, empty if it isn't known.
func (s *Store) leaderPod(ctx context.Context) string {
	if s.Members == nil {
		return ""
	}
	survey, err := s.Members.Survey(ctx)
	if leader, ok := survey.Leader(); err == nil && ok {
		return leader.Pod
	}
	return ""
}

// Taken is what was written into the store.
type Taken struct {
	// Snapshot is nil if a task has taken it, or if there was nothing to take.
	Snapshot *StoredSnapshot
	// What is what was done, for an Event. It is empty if there was nothing to take.
	What string
}

// Take has a snapshot written into the store: by a sidecar, or by a task of etcd-druid if
// no sidecar can be reached.
func (s *Store) Take(ctx context.Context, kind Kind) (Taken, error) {
	taken, err := s.bySidecar(ctx, kind)
	if !unreachable(err) {
		return taken, err
	}
	if obstacle := s.taskObstacle(ctx); obstacle != "" {
		return Taken{}, s.refuse("%v; and %s", err, obstacle)
	}
	s.Warnf("%v. Asking etcd-druid for it by a task instead.", err)
	task, err := s.takeByTask(ctx, kind)
	return Taken{What: fmt.Sprintf("etcd-druid took a %s snapshot by EtcdOpsTask %s", kind, task)}, err
}

func (s *Store) bySidecar(ctx context.Context, kind Kind) (Taken, error) {
	asked, err := s.connect(ctx)
	if err != nil {
		return Taken{}, err
	}
	s.Progressf("Asking backup-restore of %s for a %s snapshot", s.Owner, kind)
	var written StoredSnapshot
	wrote := true
	if kind == Delta {
		written, wrote, err = asked.Delta(ctx)
	} else {
		written, err = asked.Full(ctx)
	}
	switch {
	case err != nil:
		return Taken{}, err
	case !wrote:
		s.Logf("Nothing has changed since the last snapshot: no delta was written")
		return Taken{}, nil
	}
	s.Logf("Written to %s: %s, revisions %d to %d", s.name(), written.Name, written.StartRevision, written.LastRevision)
	return Taken{Snapshot: &written, What: fmt.Sprintf("backup-restore wrote %s snapshot %s into %s", kind, written.Name, s.name())}, nil
}

func (s *Store) connect(ctx context.Context) (sidecar, error) {
	if s.dial != nil {
		return s.dial(ctx)
	}
	return s.Sidecars(ctx)
}
