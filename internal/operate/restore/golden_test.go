// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// TestPrintedPlans compares whole plans with what they printed before.
func TestPrintedPlans(t *testing.T) {
	t.Parallel()
	for name, plan := range map[string]Plan{
		"statefulset": changed(plainRestore(), func(r *Plan) {
			r.Answers, r.Flags.Login, r.Files.WALDir = true, " --cert 'my a.crt'", "/wal/log"
			r.Files.Claims = []string{"data-__POD__", "wal-__POD__"}
		}),
		"statefulset-claims-gone": changed(plainRestore(), func(r *Plan) {
			r.DeletesClaims, r.Gone, r.Etcd, r.Snapshot.Hashed, r.Clients = true, []string{"data-main-1"}, "3.4.30", false, false
		}),
		"statefulset-lost": changed(plainRestore(), func(r *Plan) {
			r.Lost, r.Unbound = []string{"main-1", "main-2"}, []string{"data-main-2"}
		}),
		"statefulset-one-by-one": changed(plainRestore(), func(r *Plan) {
			r.OneByOne, r.DeletesClaims, r.Bump = true, true, 0
			r.Uncut, r.Clients = "member main-2 is a learner", false
		}),
		"bitnami-one-by-one": changed(plainRestore(), func(r *Plan) {
			r.OneByOne, r.Owner.Distribution = true, flavour.Bitnami
		}),
		"statefulset-nospace": changed(plainRestore(), func(r *Plan) { r.Snapshot.Alarms = []string{"NOSPACE"} }),
		"druid": changed(druidRestore(), func(r *Plan) {
			r.Answers, r.Flags.Context = true, " --context desk"
		}),
		"druid-node-store": changed(druidRestore(), func(r *Plan) {
			r.Druid.StorePod, r.Druid.StoreDir = "kind: Pod\nname: __POD__\n", "/bucket/v2"
			r.Bump, r.Snapshot.Hashed = 0, false
			r.Unbound = []string{"main-main-1"}
		}),
		"druid-suspended": changed(druidRestore(), func(r *Plan) {
			r.Owner.Annotations = map[string]string{traffic.SuspendAnnotation: "by: ann"}
			r.Gone = r.Druid.Claims
			r.Druid.Store = &backupstore.Store{Provider: "Local", Container: "bucket", Prefix: "main"}
		}),
		"druid-untouched": changed(druidRestore(), func(r *Plan) {
			r.Owner.Annotations = map[string]string{traffic.SuspendAnnotation: "", unprotection: "true"}
			r.Bump = 0
		}),
	} {
		steps, warnings, err := Steps(plan)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var b strings.Builder
		for _, w := range warnings {
			fmt.Fprintf(&b, "# Warning: %s.\n", w)
		}
		for i, s := range steps {
			fmt.Fprintf(&b, "\n# %d. %s\n#    %s\n", i+1, s.Title, s.Why)
			for _, c := range s.Commands(plan.Flags) {
				fmt.Fprintln(&b, c)
			}
		}
		golden(t, name, b.String())
	}
}

func changed(r Plan, change func(*Plan)) Plan {
	change(&r)
	return r
}

// golden compares a text with a file of testdata, or writes it there with UPDATE=1.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}
