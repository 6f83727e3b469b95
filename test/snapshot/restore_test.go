// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// What is saved is what etcd's own tools take for a snapshot of the same content,
// and restored by them it has the same keys; for every release.
func TestSavedCanBeRestored(t *testing.T) {
	for _, version := range []string{"3.7", "3.6", "3.5", "3.4"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			r := of(t, version)
			address, stop := r.start(t, filepath.Join(t.TempDir(), "data"))
			client := dial(t, address)
			fill(t, client)
			want := all(t, client)
			status := settledStatus(t, client, address, version)
			path := filepath.Join(t.TempDir(), "snapshot.db")
			saved, err := snapshot.Saver{Sources: []snapshot.Source{source(address)}}.ToFile(t.Context(), path, false, nothing)
			if err != nil {
				t.Fatal(err)
			}
			stop()
			if saved.Content.Revision != status.Header.Revision || saved.Content.Keys != len(want) || saved.Content.Leases != 1 || saved.Content.Compacted != 120 {
				t.Errorf("the snapshot has %+v; the member had revision %d and %d keys", saved.Content, status.Header.Revision, len(want))
			}
			if version < "3.6" != (saved.StorageVersion == "") || !strings.HasPrefix(saved.Content.StorageVersion, saved.StorageVersion) {
				t.Errorf("storage version %q by the stream, %q by the file", saved.StorageVersion, saved.Content.StorageVersion)
			}
			sameAsTool(t, r, path, saved)
			compareRestored(t, r, path, saved, want)
		})
	}
}

// An empty snapshot is one, and its content has the revision that a restore raises.
func TestSavedEmpty(t *testing.T) {
	for _, version := range []string{"3.7", "3.6", "3.5", "3.4"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			r := of(t, version)
			address, stop := r.start(t, filepath.Join(t.TempDir(), "data"))
			path := filepath.Join(t.TempDir(), "snapshot.db")
			saved, err := snapshot.Saver{Sources: []snapshot.Source{source(address)}}.ToFile(t.Context(), path, false, nothing)
			if err != nil {
				t.Fatal(err)
			}
			stop()
			if saved.Content.Revision != 1 || saved.Content.Written != 0 || saved.Content.Keys != 0 {
				t.Errorf("an empty snapshot has %+v", saved.Content)
			}
			compareRestored(t, r, path, saved, map[string]string{})
		})
	}
}

// settledStatus is the status of a member that has written its storage version, if its
// release has one: it does so a moment after it has begun to serve, and reports 3.5.0 until then.
func settledStatus(t *testing.T, c *clientv3.Client, address, version string) *clientv3.StatusResponse {
	t.Helper()
	var status *clientv3.StatusResponse
	poll(t, "the status, with its storage version, of etcd at "+address, func(ctx context.Context) bool {
		var err error
		status, err = c.Status(ctx, "http://"+address)
		return err == nil && (version < "3.6" || strings.HasPrefix(status.StorageVersion, version))
	})
	return status
}

func nothing(snapshot.Saved) ([]byte, error) { return nil, nil }

// sameAsTool compares with the output of etcd's own tool for the file.
func sameAsTool(t *testing.T, r release, path string, saved snapshot.Saved) {
	t.Helper()
	var tool struct {
		Hash     uint32 `json:"hash"`
		Revision int64  `json:"revision"`
		TotalKey int    `json:"totalKey"`
	}
	if err := json.Unmarshal(r.run(t, "snapshot", "status", path, "-w", "json"), &tool); err != nil {
		t.Fatal(err)
	}
	if tool.Hash != saved.Content.Hash || tool.Revision != saved.Content.Revision {
		t.Errorf("etcd's tool prints %+v, we %+v", tool, saved.Content)
	}
	// Before 3.7 the tool counts revisions, not keys.
	if r.version == "3.7" && tool.TotalKey != saved.Content.Keys {
		t.Errorf("etcd's tool counts %d keys, we %d", tool.TotalKey, saved.Content.Keys)
	}
}

// bump is by how much a restore raises the revision, where that release can.
const bump = 1_000_000_000

// compareRestored restores the file with etcd's own tool, with a higher revision
// where that release can, and reads all keys. Saved again it is what it was.
func compareRestored(t *testing.T, r release, path string, saved snapshot.Saved, want map[string]string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "restored")
	args := []string{"snapshot", "restore", path, "--data-dir", dir, "--name", "m", "--initial-cluster", "m=http://127.0.0.1:1", "--initial-advertise-peer-urls", "http://127.0.0.1:1"}
	if r.version != "3.4" { // the testbed's is older than 3.4.27
		args = append(args, "--bump-revision", strconv.Itoa(bump), "--mark-compacted")
	}
	r.run(t, args...)
	address, _ := r.start(t, dir)
	client := dial(t, address)
	got := all(t, client)
	if !maps.Equal(got, want) {
		t.Errorf("restored are %d keys, %d were saved, and they differ", len(got), len(want))
	}
	again, err := snapshot.Saver{Sources: []snapshot.Source{source(address)}}.ToFile(t.Context(), path, true, nothing)
	if err != nil {
		t.Fatal(err)
	}
	if again.Content.Keys != len(want) {
		t.Errorf("%d keys were restored, and the next snapshot has %d", len(want), again.Content.Keys)
	}
	if r.version == "3.4" {
		return
	}
	if status, err := client.Status(t.Context(), "http://"+address); err != nil || status.Header.Revision != saved.Content.Written+bump || again.Content.Revision != status.Header.Revision {
		t.Errorf("restored is revision %d (%v), the next snapshot has %d, and %d was to be raised by %d", status.Header.Revision, err, again.Content.Revision, saved.Content.Written, bump)
	}
	if _, err := client.Get(t.Context(), "leased", clientv3.WithRev(200)); err == nil || !strings.Contains(err.Error(), "compacted") {
		t.Errorf("a revision from before the restore can still be read: %v", err)
	}
}
