// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// TestRestoreAuthentication walks whether authentication is on now and in the snapshot.
func TestRestoreAuthentication(t *testing.T) {
	t.Parallel()
	const open = "after the restore, each client that reaches a member may read and write all"
	for _, row := range []struct {
		now             etcd.Authentication
		snapshot, saved bool
		want, not       string
	}{
		{now: etcd.AuthenticationOn, want: "authentication is on now, and off in the snapshot: " + open},
		{now: etcd.AuthenticationOff, not: "authentication"},
		{want: "it is not known whether it is on now: " + open},
		{saved: true, not: "authentication"},
		{now: etcd.AuthenticationOn, snapshot: true, want: "users have the passwords of that time", not: open},
		{now: etcd.AuthenticationOff, snapshot: true, want: "users have the passwords of that time", not: open},
		{snapshot: true, want: "users have the passwords of that time", not: open},
	} {
		r := plainRestore()
		r.Authentication, r.Snapshot.Auth, r.Saved = row.now, row.snapshot, row.saved
		_, warnings, err := Steps(r)
		text := strings.Join(warnings, "\n")
		if err != nil || !strings.Contains(text, row.want) || row.not != "" && strings.Contains(text, row.not) {
			t.Errorf("%+v: %v, %s", row, err, text)
		}
	}
}

// TestRestoreDenied: a plan that would fail at its first step is not begun.
func TestRestoreDenied(t *testing.T) {
	t.Parallel()
	r := plainRestore()
	r.Answers, r.Denied = true, "member main-0: etcd has no user"
	wantRefusal(t, "denied", r.refusal(), "the present data can't be saved: member main-0: etcd has no user")
	r.Answers = false
	wantRefusal(t, "of no use", r.refusal(), "")
}
