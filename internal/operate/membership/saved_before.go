// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership/memberlist"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// savedBefore returns an error unless the file is a complete snapshot of this cluster, which is required
// before all members stop. The error of a damaged file is a *snapshot.CorruptError. It returns the file's
// revision for the plan.
func (m *Members) savedBefore(ctx context.Context, path string) (string, error) {
	if path == "" {
		return "", operate.Refuse("cannot scale %s to 0 members without a snapshot. Run kubectl etcd snapshot save etcd/%s FILE -n %s, and repeat this command with --after-snapshot FILE", m.Owner, m.Owner.Name, m.Owner.Namespace)
	}
	file, err := snapshot.Inspect(ctx, path)
	switch {
	case err != nil:
		return "", fmt.Errorf("--after-snapshot: %w", err)
	case !file.Hashed:
		return "", operate.Refuse("--after-snapshot %s has no hash at its end. It is a copy of a database, which may be incomplete. Save a snapshot instead", path)
	}
	if err := m.connect(ctx); err != nil {
		return "", err
	}
	s, err := memberlist.SurveyQuorum(ctx, m.cluster, m.Owner, fmt.Sprintf("scale %s to 0 members", m.Owner))
	if err != nil {
		return "", err
	}
	return savedOf(m.Owner, path, file, s)
}

// savedOf returns an error if a complete snapshot is of another cluster than the one of a survey.
func savedOf(o owner.Owner, path string, file snapshot.File, s etcd.Survey) (string, error) {
	ours := slices.ContainsFunc(file.Members, func(m snapshot.Member) bool {
		return slices.ContainsFunc(s.List, func(l etcd.Listed) bool { return l.ID == m.ID })
	})
	if !ours {
		return "", operate.Refuse("--after-snapshot %s belongs to another cluster: it contains no member of %s", path, o)
	}
	latest := int64(0)
	for _, m := range s.Members {
		latest = max(latest, m.Revision)
	}
	return fmt.Sprintf("snapshot %s is complete: %d keys at revision %d, the cluster is at revision %d", path, file.Keys, file.Revision, latest), nil
}
