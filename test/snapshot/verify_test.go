// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot/trial"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestVerify starts a throw-away etcd of each release from data of that release. Authentication was on, and no user
// is asked for the password.
//
//nolint:gocyclo // one check a fact
func TestVerify(t *testing.T) {
	for _, version := range []string{"3.4", "3.5", "3.6", "3.7"} {
		t.Run(version, func(t *testing.T) {
			r := of(t, version)
			dir := filepath.Join(t.TempDir(), "data")
			address, stop := r.start(t, dir)
			c := dial(t, address)
			for i := range 250 { // more than a page
				if _, err := c.Put(t.Context(), fmt.Sprintf("/registry/pods/team/%03d", i), "some pod"); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := c.Grant(t.Context(), 3600); err != nil {
				t.Fatal(err)
			}
			if _, err := c.Put(t.Context(), "plain", "x"); err != nil {
				t.Fatal(err)
			}
			authenticate(t, c)
			stop()
			file := filepath.Join(dir, "member", "snap", "db") // a copy of a member's database
			content, err := snapshot.Inspect(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			got, err := (&trial.Trial{File: file, Content: content, Tool: r.tool, Etcd: r.etcd, Logf: t.Logf}).Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if got.Keys != 251 || got.Revision != content.Revision || got.Leases != 1 || got.Hash == 0 || len(got.Alarms) > 0 {
				t.Errorf("%+v", got)
			}
			if len(got.Prefixes) != 2 || got.Prefixes[0].Prefix != "/registry/pods/" || got.Prefixes[0].Keys != 250 {
				t.Errorf("the prefixes are %+v", got.Prefixes)
			}
			if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
				t.Errorf("%v are left, %v", left, err)
			}
		})
	}
}

// authenticate switches authentication on.
func authenticate(t *testing.T, c *clientv3.Client) {
	t.Helper()
	if _, err := c.UserAdd(t.Context(), "root", "secret"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.UserGrantRole(t.Context(), "root", "root"); err != nil {
		t.Fatal(err)
	}
	if _, err := c.AuthEnable(t.Context()); err != nil {
		t.Fatal(err)
	}
}
