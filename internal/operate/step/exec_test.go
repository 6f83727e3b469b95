// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
)

// TestExecRefused: what runs a command in a pod runs it in that pod only, and returns its error. Room is an
// exception: it only checks.
func TestExecRefused(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"member/snap/db": "data"})
	file := CopyFile{From: filepath.Join(dir, "member/snap/db"), Pod: "main-0", To: "/data/db"}
	remove := Exec{Pod: "main-0", Args: []string{"rm", "-rf", "/data/old"}}
	for name, row := range map[string]struct {
		do      func(context.Context, Clients) error
		command string
		passes  bool
	}{
		"exec": {do: func(ctx context.Context, c Clients) error {
			return c.exec(ctx, remove.Pod, remove.Args, nil, io.Discard)
		}, command: "rm -rf /data/old"},
		"Exec":        {do: remove.Do, command: "rm -rf /data/old"},
		"CopyFile":    {do: file.try, command: "cat > /data/db"},
		"CompareFile": {do: CompareFile(file).Do, command: "sha256sum < /data/db"},
		"CompareDir":  {do: CompareDir{From: dir, What: "member", Pod: "main-0", To: "/data"}.Do, command: "cd /data && find member"},
		"Room":        {do: Room{Pod: "main-0", Dir: "/data", Bytes: 1}.Do, command: "df -Pk /data", passes: true},
	} {
		var ran []string
		err := row.do(t.Context(), Clients{Exec: func(_ context.Context, pod string, command []string, _ io.Reader, _ io.Writer) error {
			ran = append(ran, pod+": "+strings.Join(command, " "))
			return errors.New("forbidden")
		}})
		if len(ran) != 1 || !strings.HasPrefix(ran[0], "main-0: ") || !strings.Contains(ran[0], row.command) {
			t.Errorf("%s ran %q, want %q in main-0", name, ran, row.command)
		}
		if row.passes != (err == nil) || err != nil && (!strings.Contains(err.Error(), "in pod main-0: forbidden") || !strings.HasPrefix(err.Error(), "run ")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
