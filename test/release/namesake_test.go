// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// besideNamesake does what docs/decisions/name.md has a table of: a user has this plugin
// by krew, and another program of its name.
func besideNamesake(t *testing.T, bin string, r *Released) {
	t.Helper()
	k := newUser(t, bin)
	k.run(t, "kubectl", "krew", "install", "--manifest", r.Manifest, "--archive", archive(r))
	ours, theirs := filepath.Join(k.root, "bin", "kubectl-etcd"), namesake(t, k, bin)
	path := k.path()

	k.env = append(k.env, "PATH="+path+":"+filepath.Dir(theirs))
	k.wantOvershadowed(t, theirs, ours)
	// It has a main package to name, since it is a Go program.
	k.wantTexts(t, "Warning: "+theirs+" (sigs.k8s.io/krew/cmd/validate-krew-manifest ", "is also in PATH. kubectl etcd runs "+ours+", which comes first.",
		"kubectl", "etcd", "version", "--client")

	k.env = append(k.env, "PATH="+filepath.Dir(theirs)+":"+path)
	if printed, err := k.try(t.Context(), "kubectl", "etcd", "version", "--client"); err == nil || strings.Contains(printed, "Client Version") {
		t.Errorf("kubectl runs ours, which comes later: %v\n%s", err, printed)
	}
	k.wantOvershadowed(t, ours, theirs)
	k.wantTexts(t, "Warning: kubectl etcd runs "+theirs+" (sigs.k8s.io/krew/cmd/validate-krew-manifest ", "not this program: it comes first in PATH.",
		ours, "version", "--client")
}

// namesake is another Go program that is called like the plugin, in a folder of its own.
func namesake(t *testing.T, k *user, bin string) string {
	t.Helper()
	path := filepath.Join(k.home, "other", "kubectl-etcd")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(bin, "validate-krew-manifest"), path); err != nil {
		t.Fatal(err)
	}
	return path
}

// path is the user's PATH.
func (k *user) path() string {
	i := slices.IndexFunc(k.env, func(v string) bool { return strings.HasPrefix(v, "PATH=") })
	return strings.TrimPrefix(k.env[i], "PATH=")
}

// wantOvershadowed has kubectl list its plugins: of two that have one name it warns, and
// ends with 1.
func (k *user) wantOvershadowed(t *testing.T, later, first string) {
	t.Helper()
	printed, err := k.try(t.Context(), "sh", "-c", "kubectl plugin list; echo exit code $?")
	want := "warning: " + later + " is overshadowed by a similarly named plugin: " + first
	if err != nil || !strings.Contains(printed, want) || !strings.HasSuffix(printed, "exit code 1\n") {
		t.Errorf("kubectl plugin list, want %q and exit code 1:\n%s", want, printed)
	}
}

// wantTexts checks that a command succeeds and prints these texts.
func (k *user) wantTexts(t *testing.T, begin, end string, command ...string) {
	t.Helper()
	printed := k.run(t, command[0], command[1:]...)
	if _, rest, found := strings.Cut(printed, begin); !found || !strings.Contains(rest, end) {
		t.Errorf("output of %q, want %q and %q:\n%s", command, begin, end, printed)
	}
}
