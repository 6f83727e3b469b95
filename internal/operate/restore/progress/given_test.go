// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"testing"
)

// TestGivenName: the journal has the snapshot's name as it was given, without anything that may be secret.
func TestGivenName(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"main.db":                         "main.db",
		"./backups of may/main.db":        "./backups of may/main.db",
		"-":                               "-",
		"":                                "",
		"a?b#c@d.db":                      "a?b#c@d.db",
		"s3://bucket/team/main.db":        "s3://bucket/team/main.db",
		"s3://key:secret@bucket/m.db":     "s3://bucket/m.db",
		"s3://bucket/m.db?region=x&key=y": "s3://bucket/m.db +",
		"s3://bucket/m%20n.db?":           "s3://bucket/m%20n.db +",
		"s3://bucket/m.db#secret":         "s3://bucket/m.db",
		"s3://bucket/%zz?secret":          "",
		"file:///backups/main.db":         "file:///backups/main.db",
		"dir/a://b":                       "dir/a://b",
	} {
		name, parameters := GivenName(given)
		if parameters {
			name += " +"
		}
		if name != want {
			t.Errorf("%s: %q, want %q", given, name, want)
		}
	}
}
