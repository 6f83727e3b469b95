// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// TestSavedBefore: all members stop only if a file is a complete snapshot of their cluster. A file that is
// none is not compared with a cluster.
func TestSavedBefore(t *testing.T) {
	t.Parallel()
	_, m := newDruid(t)
	empty := filepath.Join(t.TempDir(), "empty.db")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		path             string
		refused, corrupt bool
		want             string
	}{
		"no file":       {"", true, false, "cannot scale Etcd team/main to 0 members without a snapshot. Run kubectl etcd snapshot save etcd/main FILE -n team"},
		"a path":        {empty + ".not", false, false, "--after-snapshot: open "},
		"a damaged one": {empty, false, true, "it is empty"},
	} {
		fact, err := m.savedBefore(t.Context(), row.path)
		if fact != "" || err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %q, %v, want %q", name, fact, err, row.want)
		}
		if errors.As(err, new(*operate.RefusedError)) != row.refused || errors.As(err, new(*snapshot.CorruptError)) != row.corrupt {
			t.Errorf("%s: the error is a %T", name, err)
		}
	}

	file := snapshot.File{Content: snapshot.Content{Keys: 7, Revision: 40, Members: []snapshot.Member{{ID: 2}}}}
	survey := etcd.Survey{List: []etcd.Listed{{ID: 1}, {ID: 2}}, Members: []etcd.Member{{Revision: 41}, {Revision: 42}}}
	fact, err := savedOf(m.Owner, "saved.db", file, survey)
	if want := "snapshot saved.db is complete: 7 keys at revision 40, the cluster is at revision 42"; err != nil || fact != want {
		t.Errorf("%q, %v, want %q", fact, err, want)
	}
	survey.List = survey.List[:1]
	if _, err := savedOf(m.Owner, "saved.db", file, survey); !errors.As(err, new(*operate.RefusedError)) {
		t.Errorf("a snapshot of another cluster: %v", err)
	}
}
