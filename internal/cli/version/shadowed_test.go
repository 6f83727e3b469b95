// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestShadowingPlugins(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	write := func(folder string, mode os.FileMode) string {
		path := filepath.Join(root, folder, PluginName)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	store, other, another := write("store", 0o700), write("other", 0o700), write("another", 0o700)
	write("plain", 0o600)
	krew := filepath.Join(root, "krew", PluginName)
	for _, folder := range []string{filepath.Dir(krew), filepath.Join(root, "folder", PluginName)} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(store, krew); err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name    string
		folders []string
		first   string
		others  []string
	}{
		{name: "alone", folders: []string{"krew"}, first: krew},
		{name: "twice by a link", folders: []string{"krew", "store"}, first: krew},
		{name: "another behind", folders: []string{"krew", "other"}, first: krew, others: []string{other}},
		{name: "another before", folders: []string{"other", "krew"}, first: other, others: []string{other}},
		{name: "before and behind", folders: []string{"other", "krew", "another", "other"}, first: other, others: []string{other, another}},
		{name: "called by its path, another in PATH", folders: []string{"other"}, first: other, others: []string{other}},
		{name: "not a program, a folder, and nothing", folders: []string{"plain", "folder", "missing", "krew"}, first: krew},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			var folders []string
			for _, f := range row.folders {
				folders = append(folders, filepath.Join(root, f))
			}
			first, others := shadowingPlugins(folders, store)
			if first != row.first || !slices.Equal(others, row.others) {
				t.Errorf("kubectl runs %s and the others are %q, want %s and %q", first, others, row.first, row.others)
			}
		})
	}
}
