// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/blob/blobtest"
)

// TestRestoreDownloadsNothingInVain: if the flags alone show that the restore would be refused, its snapshot is not
// downloaded.
func TestRestoreDownloadsNothingInVain(t *testing.T) {
	server := &blobtest.S3{}
	bucket, parameters, _ := strings.Cut(server.URL(t), "?")
	object := bucket + "main.db?" + parameters
	w := snapshotWorld(t)
	w.must(t, 0, "save statefulset/main "+object)
	for _, row := range []struct {
		flags string
		code  int
		want  string
	}{
		{"-y --wait=false", 1, "--wait=false is not possible with this command"},
		{"", 2, "there is no terminal to ask for confirmation. To see the plan, add --dry-run=client"},
	} {
		w.must(t, row.code, "restore "+object+" statefulset/main "+row.flags, row.want)
		if strings.Contains(w.err.String(), "Downloading") {
			t.Errorf("%q: the snapshot is downloaded:\n%s", row.flags, &w.err)
		}
	}
	w.must(t, 2, "restore - statefulset/main", "there is no terminal to ask for confirmation. To see the plan")
}
