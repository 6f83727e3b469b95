// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package trial

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestApplyFails: an etcd that can't apply a log is an error that names what it printed. It gets no variables that are flags, and
// never the volume itself.
func TestApplyFails(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("OUT", bin)
	t.Setenv("ETCD_CONFIG_FILE", "/etc/etcd.yaml")
	etcd := program(t, bin, "etcd", `echo "$@" > $OUT/args; env > $OUT/env; echo 'panic: wal: crc mismatch'; exit 2`)
	dir := t.TempDir()
	_, err := Apply(t.Context(), dir, filepath.Join(dir, "data"), filepath.Join(dir, "log"), etcd)
	for _, want := range []string{"exit status 2: panic: wal: crc mismatch", "The volume is unchanged", "--etcd"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	args, err := os.ReadFile(filepath.Join(bin, "args"))
	if want := "--force-new-cluster --wal-dir " + filepath.Join(dir, "log"); err != nil || !strings.Contains(string(args), want) {
		t.Errorf("%s (%v), want %s", args, err, want)
	}
	env, err := os.ReadFile(filepath.Join(bin, "env"))
	if err != nil || strings.Contains(string(env), "ETCD_CONFIG_FILE") {
		t.Errorf("etcd has the variable ETCD_CONFIG_FILE (%v)", err)
	}
}
