// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

func TestNames(t *testing.T) {
	t.Parallel()
	n := Names{Namespace: "team", Name: "main"}
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	if got := n.At(at.In(time.FixedZone("", 3600))); got != "team.main-20260131T120000Z.db" {
		t.Errorf("got %s", got)
	}
	if got, ok := n.Time("team.main-20260131T120000Z.db"); !ok || !got.Equal(at) {
		t.Errorf("got %s, %v", got, ok)
	}
	for _, other := range []string{
		"", "team.main.db", "team.main-20260131T120000Z.db.json", "team.main-20260131T120000Z.db.part", "team.main-2-20260131T120000Z.db", "team-main-20260131T120000Z.db",
		"team.main-20260231T120000Z.db", "team.main-2026013T120000Z.db", "x/team.main-20260131T120000Z.db", "other.main-20260131T120000Z.db", "team.main-20260131T120000Z.dbx",
	} {
		if _, ok := n.Time(other); ok {
			t.Errorf("%q counts as a snapshot of %v", other, n)
		}
	}
}

// TestPrune: only snapshots of this cluster go, the oldest first, and never the new or the newest one.
func TestPrune(t *testing.T) {
	t.Parallel()
	name := func(hour int) string {
		return Names{Namespace: "team", Name: "main"}.At(time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC))
	}
	const ours, theirs = "uid-1", "uid-2"
	for _, row := range []struct {
		name string
		// files have the UID of their description, or none.
		files  map[string]string
		stored string
		keep   int
		want   []string
		warned string
	}{
		{"fewer than to keep", map[string]string{name(1): ours, name(2): ours}, name(2), 3, nil, ""},
		{"as many as to keep", map[string]string{name(1): ours, name(2): ours}, name(2), 2, nil, ""},
		{"one too many", map[string]string{name(1): ours, name(2): ours, name(3): ours}, name(3), 2, []string{name(1)}, ""},
		{"keep was made smaller", map[string]string{name(1): ours, name(2): ours, name(3): ours, name(4): ours}, name(4), 1, []string{name(1), name(2), name(3)}, ""},
		{"keep none still keeps one", map[string]string{name(1): ours, name(2): ours}, name(2), 0, []string{name(1)}, ""},
		{"the clock went back", map[string]string{name(1): ours, name(2): ours, name(3): ours}, name(1), 2, nil, ""},
		{"a cluster of the same name", map[string]string{name(1): theirs, name(2): theirs, name(3): ours, name(4): ours}, name(4), 1, []string{name(3)}, "2 snapshots are kept"},
		{"without a description", map[string]string{name(1): "", name(2): ours, name(3): ours}, name(3), 1, []string{name(2)}, "1 snapshots are kept"},
		{"other files", map[string]string{"team.main-2-20260101T000000Z.db": ours, "team.main.db": ours, "notes": "", name(2): ours}, name(2), 1, nil, ""},
	} {
		dir := t.TempDir()
		for file, uid := range row.files {
			text := fmt.Sprintf(`{"origin":{"cluster":{"uid":%q}}}`, uid)
			if err := os.WriteFile(filepath.Join(dir, file), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			if uid == "" {
				continue
			}
			if err := os.WriteFile(filepath.Join(dir, file+".json"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l, err := blob.ParseFolder("file://" + filepath.ToSlash(dir))
		if err != nil {
			t.Fatal(err)
		}
		store, err := blob.Open(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		warned := ""
		got, err := Prune(t.Context(), store, Names{Namespace: "team", Name: "main"}, ours, row.stored, row.keep, func(format string, args ...any) { warned += fmt.Sprintf(format, args...) })
		if err != nil || !slices.Equal(got, row.want) || !strings.Contains(warned, row.warned) || row.warned == "" && warned != "" {
			t.Errorf("%s: deleted %q, want %q; %v, warned %q", row.name, got, row.want, err, warned)
		}
		for file := range row.files {
			_, err := os.Stat(filepath.Join(dir, file))
			if gone := errors.Is(err, os.ErrNotExist); gone != slices.Contains(row.want, file) {
				t.Errorf("%s: %s is gone: %v", row.name, file, gone)
			}
		}
	}
}

// TestRenew: the Lease has the time of the snapshot and its revision. It is never created.
func TestRenew(t *testing.T) {
	t.Parallel()
	s := apitest.New(t)
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	if err := Renew(t.Context(), s.Client(t), "team", "main-backup", at, 42); err == nil || !strings.Contains(err.Error(), "renew Lease team/main-backup") {
		t.Errorf("without the Lease: %v", err)
	}
	s.Put(operatetest.Path("Lease", "main-backup"), apitest.Object{"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": apitest.Object{"namespace": "team", "name": "main-backup"}})
	if err := Renew(t.Context(), s.Client(t), "team", "main-backup", at, 42); err != nil {
		t.Fatal(err)
	}
	spec := operatetest.Field(s.Get(operatetest.Path("Lease", "main-backup")), "spec")
	if spec["renewTime"] != "2026-01-31T12:00:00.000000Z" || spec["holderIdentity"] != "42" {
		t.Errorf("the Lease has %v", spec)
	}
	s.Refuse = func(string, string) int { return http.StatusForbidden }
	if err := Renew(t.Context(), s.Client(t), "team", "main-backup", at, 42); err == nil {
		t.Error("a refused write is no error")
	}
}
