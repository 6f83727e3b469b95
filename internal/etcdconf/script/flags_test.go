// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseFlags(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		argv []string
		want map[string]string
	}{
		{"behind =", []string{"--name=a", "-data-dir=b=c"}, map[string]string{"name": "a", "data-dir": "b=c"}},
		{"the next word", []string{"--name", "a", "-wal-dir", "b"}, map[string]string{"name": "a", "wal-dir": "b"}},
		{"the next word, whatever it is", []string{"--name", "--x"}, map[string]string{"name": "--x"}},
		{"without a value", []string{"--client-cert-auth", "--name", "a", "--auto-tls=false"}, map[string]string{"client-cert-auth": "true", "name": "a", "auto-tls": "false"}},
		{"the last wins", []string{"--name=a", "--name=b"}, map[string]string{"name": "b"}},
		{"up to the first that is none", []string{"--name=a", "x", "--data-dir=b"}, map[string]string{"name": "a"}},
		{"up to two dashes", []string{"--name=a", "--", "--data-dir=b"}, map[string]string{"name": "a"}},
		{"empty", []string{"--name="}, map[string]string{"name": ""}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			got, _ := Flags(row.argv)
			if diff := cmp.Diff(row.want, got); diff != "" {
				t.Errorf("flags (-want +got):\n%s", diff)
			}
		})
	}
}
