// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestRoom(t *testing.T) {
	t.Parallel()
	const head = "Filesystem 1024-blocks Used Available Capacity Mounted on\n"
	for name, row := range map[string]struct {
		out  string
		err  error
		want string
	}{
		"enough":     {out: head + "/dev/sda 100000 1000 2048 2% /data\n"},
		"too little": {out: head + "/dev/sda 100000 1000 2047 2% /data\n", want: "main-0-restore has 2.0 MiB free in /data, and the new data needs 2.0 MiB beside the old data. Grow the volume, and repeat the command: kubectl -n team patch pvc/data-main-0 --type merge -p '{\"spec\":{\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}'. Or undo it"},
		"full":       {out: head + "/dev/sda 100000 100000 0 100% /data\n", want: "has 0 B free"},
		"no number":  {out: head + "/dev/sda - - - - /data\n"},
		"nothing":    {},
		"no df":      {err: errors.New("no df")},
	} {
		c := Clients{Namespace: "team", Exec: func(_ context.Context, _ string, _ []string, _ io.Reader, out io.Writer) error {
			_, _ = io.WriteString(out, row.out)
			return row.err
		}}
		err := Room{Pod: EachPod + "-restore", Dir: "/data", Bytes: 2 << 20, Claim: "data-" + EachPod, How: "Or undo it"}.forPod("main-0").Do(t.Context(), c)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
}
