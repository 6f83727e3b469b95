// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

func TestNames(t *testing.T) {
	t.Parallel()
	n := Names{Namespace: "team", Name: "main", UID: "uid-1"}
	at := time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)
	if got := n.At(at.In(time.FixedZone("", 3600))); got != "team.main.uid-1-20260131T120000Z.db" {
		t.Errorf("got %s", got)
	}
	for _, form := range []string{"team.main-20260131T120000Z.db", "team.main.uid-1-20260131T120000Z.db"} {
		if got, ok := n.Time(form); !ok || !got.Equal(at) {
			t.Errorf("%s: got %s, %v", form, got, ok)
		}
	}
	if got := (Names{Namespace: "team", Name: "main"}).At(at); got != "team.main-20260131T120000Z.db" {
		t.Errorf("without a UID: %s", got)
	}
	for _, other := range []string{
		"", "team.main.db", "team.main-20260131T120000Z.db.json", "team.main-20260131T120000Z.db.part", "team.main-2-20260131T120000Z.db", "team-main-20260131T120000Z.db",
		"team.main-20260231T120000Z.db", "team.main-2026013T120000Z.db", "x/team.main-20260131T120000Z.db", "other.main-20260131T120000Z.db", "team.main.uid-2-20260131T120000Z.db", "team.main.uid-1-2-20260131T120000Z.db", "team.main-20260131T120000Z.dbx",
	} {
		if _, ok := n.Time(other); ok {
			t.Errorf("%q counts as a snapshot of %v", other, n)
		}
	}
}

const earlierUID = "01234567-89ab-cdef-0123-456789abcdef"

// TestOther: names of clusters with the same namespace and name are known by the UID. Those of longer names are not
// theirs.
func TestOther(t *testing.T) {
	t.Parallel()
	n := Names{Namespace: "team", Name: "main", UID: "fedcba98-89ab-cdef-0123-456789abcdef"}
	const at = "-20260131T120000Z.db"
	for name, want := range map[string]string{
		"team.main." + earlierUID + at: earlierUID, "team.main." + n.UID + at: "", "team.main" + at: "", "team.main.two" + at: "", "team.main.two." + earlierUID + at: "",
		"team.main." + earlierUID + ".db": "", "team.main." + earlierUID + at + ".json": "", "team.main." + earlierUID + "-20260231T120000Z.db": "", "other.main." + earlierUID + at: "", "": "",
	} {
		if got := n.Other(name); got != want {
			t.Errorf("%s: %q", name, got)
		}
	}
	if got := (Names{Namespace: "team", Name: "main"}).Other("team.main." + earlierUID + at); got != "" {
		t.Errorf("without a UID: %q", got)
	}
}

// TestPrune: only snapshots of this cluster go, the oldest first, and never the new or the newest one.
//
//nolint:gocyclo // one check after the other
func TestPrune(t *testing.T) {
	t.Parallel()
	name := func(hour int) string {
		return Names{Namespace: "team", Name: "main"}.At(time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC))
	}
	of := func(uid, id string, revision int64) v1alpha1.Snapshot {
		return v1alpha1.Snapshot{Revision: revision, Origin: &v1alpha1.SnapshotOrigin{Cluster: v1alpha1.ClusterReference{UID: uid}, ClusterID: id}}
	}
	withUID := func(uid string, hour int) string {
		return Names{Namespace: "team", Name: "main", UID: uid}.At(time.Date(2026, 1, 1, hour, 0, 0, 0, time.UTC))
	}
	ours, higher, lower := of("uid-1", "c-1", 9), of("uid-1", "c-1", 500), of("uid-1", "c-1", 3)
	theirs, emptied, noID, none := of("uid-2", "c-1", 9), of("uid-1", "c-0", 9), of("uid-1", "", 9), v1alpha1.Snapshot{}
	for _, row := range []struct {
		name string
		// files have their descriptions. One without an origin is not written.
		files  map[string]v1alpha1.Snapshot
		stored string
		keep   int
		want   []string
		warned string
	}{
		{"fewer than to keep", map[string]v1alpha1.Snapshot{name(1): ours, name(2): ours}, name(2), 3, nil, ""},
		{"as many as to keep", map[string]v1alpha1.Snapshot{name(1): ours, name(2): ours}, name(2), 2, nil, ""},
		{"one too many", map[string]v1alpha1.Snapshot{name(1): ours, name(2): ours, name(3): ours}, name(3), 2, []string{name(1)}, ""},
		{"keep was made smaller", map[string]v1alpha1.Snapshot{name(1): ours, name(2): ours, name(3): ours, name(4): ours}, name(4), 1, []string{name(1), name(2), name(3)}, ""},
		{"keep none still keeps one", map[string]v1alpha1.Snapshot{name(1): ours, name(2): ours}, name(2), 0, []string{name(1)}, ""},
		{"the clock went back", map[string]v1alpha1.Snapshot{name(1): ours, name(2): ours, name(3): ours}, name(1), 2, nil, "2 snapshots have a later time in their names"},
		{"a clock was ahead once", map[string]v1alpha1.Snapshot{name(1): lower, name(2): ours, name(3): ours, name(9): lower}, name(3), 2, []string{name(1)}, "1 snapshots have a later time in their names than " + name(3)},
		{"a cluster of the same name", map[string]v1alpha1.Snapshot{name(1): theirs, name(2): theirs, name(3): ours, name(4): ours}, name(4), 1, []string{name(3)}, "2 snapshots are kept"},
		{"without a description", map[string]v1alpha1.Snapshot{name(1): none, name(2): ours, name(3): ours}, name(3), 1, []string{name(2)}, "1 snapshots are kept"},
		{"etcd has another ID since", map[string]v1alpha1.Snapshot{name(1): emptied, name(2): emptied, name(3): ours, name(4): ours}, name(4), 1, []string{name(3)}, "2 snapshots are kept"},
		{"without an ID", map[string]v1alpha1.Snapshot{name(1): noID, name(2): ours, name(3): ours}, name(3), 1, []string{name(2)}, "1 snapshots are kept"},
		{"etcd lost its data and has the same ID", map[string]v1alpha1.Snapshot{name(1): ours, name(2): higher, name(3): ours}, name(3), 1, nil, "2 snapshots are kept that are older than a loss of data or a restore of team/main: " + name(2) + " has revision 500, and a later snapshot has 9"},
		{"the same some snapshots later", map[string]v1alpha1.Snapshot{name(1): higher, name(2): lower, name(3): lower, name(4): ours}, name(4), 1, []string{name(2), name(3)}, "1 snapshots are kept that are older"},
		{"the revision increases", map[string]v1alpha1.Snapshot{name(1): lower, name(2): ours, name(3): ours}, name(3), 1, []string{name(1), name(2)}, ""},
		{"names with and without the UID", map[string]v1alpha1.Snapshot{name(1): ours, withUID("uid-1", 2): ours, name(3): ours, withUID("uid-1", 4): ours}, withUID("uid-1", 4), 2, []string{name(1), withUID("uid-1", 2)}, ""},
		{"the same namespace and name elsewhere", map[string]v1alpha1.Snapshot{withUID("uid-2", 1): theirs, withUID("uid-2", 2): theirs, withUID("uid-1", 3): ours, withUID("uid-1", 4): ours}, withUID("uid-1", 4), 1, []string{withUID("uid-1", 3)}, ""},
		{"an earlier StatefulSet", map[string]v1alpha1.Snapshot{withUID(earlierUID, 1): theirs, withUID(earlierUID, 2): theirs, withUID("uid-1", 3): ours, withUID("uid-1", 4): ours}, withUID("uid-1", 4), 1, []string{withUID("uid-1", 3)}, "2 snapshots are of another team/main, with UID " + earlierUID},
		{"an earlier StatefulSet, and nothing to delete", map[string]v1alpha1.Snapshot{withUID(earlierUID, 1): theirs, withUID("uid-1", 4): ours}, withUID("uid-1", 4), 3, nil, "names begin with team.main." + earlierUID + "-, with"},
		{"a foreign description under our name", map[string]v1alpha1.Snapshot{withUID("uid-1", 1): theirs, withUID("uid-1", 2): ours, withUID("uid-1", 3): ours}, withUID("uid-1", 3), 1, []string{withUID("uid-1", 2)}, "1 snapshots are kept"},
		{"other files", map[string]v1alpha1.Snapshot{"team.main-2-20260101T000000Z.db": ours, "team.main.db": ours, "notes": none, name(2): ours}, name(2), 1, nil, ""},
	} {
		dir := t.TempDir()
		for file, description := range row.files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			if description.Origin == nil {
				continue
			}
			text, err := json.Marshal(description)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, file+".json"), text, 0o600); err != nil {
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
		got, err := Prune(t.Context(), store, Names{Namespace: "team", Name: "main", UID: "uid-1"}, &ours, row.stored, row.keep, func(format string, args ...any) { warned += fmt.Sprintf(format, args...) })
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
