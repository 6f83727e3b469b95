// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// Inspect reads and checks the snapshot in a file, and its origin. A damaged one is a *snapshot.CorruptError.
// An origin that can't be read is only a warning.
func Inspect(ctx context.Context, file string, warnf func(format string, args ...any)) (*v1alpha1.Snapshot, snapshot.File, error) {
	got, err := snapshot.Inspect(ctx, file)
	if err != nil {
		return nil, got, err
	}
	out := describe(file, got)
	if out.Origin, err = originOf(file, out.SHA256); err != nil {
		warnf("%v.", err)
	}
	return out, got, nil
}

// originOf reads the origin of a snapshot from FILE.json. It returns nil if there is no such file.
func originOf(file, sha256 string) (*v1alpha1.SnapshotOrigin, error) {
	name := file + blob.RecordSuffix
	text, err := os.ReadFile(name) //nolint:gosec // the user chooses the path
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var s v1alpha1.Snapshot
	switch err := json.Unmarshal(text, &s); {
	case err != nil:
		return nil, fmt.Errorf("%s is not a file of snapshot save: %w", name, err)
	case s.SHA256 != sha256:
		return nil, fmt.Errorf("%s is ignored: it belongs to another snapshot, with the SHA-256 %s", name, s.SHA256)
	}
	return s.Origin, nil
}

// describe returns the contents of a snapshot file as an object for printing.
func describe(file string, s snapshot.File) *v1alpha1.Snapshot {
	out := &v1alpha1.Snapshot{
		File: file, Size: s.Size, SHA256: hex.EncodeToString(s.SHA256[:]), Hashed: s.Hashed, Hash: fmt.Sprintf("%x", s.Hash),
		Revision: s.Revision, CompactedRevision: s.Compacted, Keys: s.Keys, Leases: s.Leases,
		StorageVersion: s.StorageVersion, ClusterVersion: s.ClusterVersion, RaftIndex: s.Index, RaftTerm: s.Term, Auth: s.Auth, Alarms: s.Alarms,
	}
	for _, m := range s.Members {
		out.Members = append(out.Members, v1alpha1.SnapshotMember{
			ID: etcd.HexID(m.ID), Name: m.Name, PeerURLs: m.PeerURLs, ClientURLs: m.ClientURLs, Learner: m.Learner,
		})
	}
	return out
}
