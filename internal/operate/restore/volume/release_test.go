// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheckRelease: an etcd of another minor release never touches the copy of a member's data.
func TestCheckRelease(t *testing.T) {
	for _, row := range []struct{ prints, members, want string }{
		{"etcd Version: 3.5.21", "3.5.9", ""},
		{"etcd Version: 3.5.21", "", ""},
		{"etcd Version: 3.6.0", "3.5.9", "is of etcd 3.6.0, and the members run 3.5.9; name a program of their minor release with --etcd"},
		{"etcd Version: 3.4.0", "3.5.9", "is of etcd 3.4.0"},
		{"etcdutl version: 3.5.21", "3.5.9", "doesn't show its version"},
	} {
		program := filepath.Join(t.TempDir(), "etcd")
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho '"+row.prints+"'\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		path, version, err := Program(t.Context(), program)
		if err == nil {
			err = (&Saver{Etcd: path, Version: version}).CheckRelease(row.members)
		}
		if (err != nil) != (row.want != "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s beside %s: %v, want %q", row.prints, row.members, err, row.want)
		}
	}
	if _, _, err := Program(t.Context(), filepath.Join(t.TempDir(), "etcd")); err == nil || !strings.Contains(err.Error(), "is not on this machine; install etcd") {
		t.Errorf("no program: %v", err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile("etcd", []byte("#!/bin/sh\necho 'etcd Version: 3.5.21'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if path, _, err := Program(t.Context(), "./etcd"); err != nil || !filepath.IsAbs(path) {
		t.Errorf("%s: %v", path, err)
	}
}
