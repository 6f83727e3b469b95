// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// entry is one entry of an archive.
type entry struct {
	name, content string
	kind          byte
}

func archived(t *testing.T, entries ...entry) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, e := range entries {
		h := &tar.Header{Name: e.name, Typeflag: e.kind, Mode: 0o777, Size: int64(len(e.content))}
		if e.kind == tar.TypeSymlink {
			h.Linkname = "/etc"
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(e.content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestFetchDir: the files of a pod are written below the directory, for the user alone, and nowhere else.
func TestFetchDir(t *testing.T) {
	t.Parallel()
	good := archived(t, entry{"member/snap/", "", tar.TypeDir}, entry{"member/snap/db", "data", tar.TypeReg})
	for _, row := range []struct {
		name    string
		archive []byte
		want    string // the error, empty for none
	}{
		{"good", good, ""},
		{"cut off", good[:len(good)-1536], "unexpected EOF"},
		{"cut off in a file", good[:1026], "unexpected EOF"},
		{"a file elsewhere", archived(t, entry{"../out", "x", tar.TypeReg}), "escapes"},
		{"a file of the machine", archived(t, entry{"/etc/x", "x", tar.TypeReg}), "escapes"},
		{"a link", archived(t, entry{"member", "", tar.TypeSymlink}), "member is neither a file nor a directory"},
		{"a device", archived(t, entry{"member", "", tar.TypeBlock}), "member is neither a file nor a directory"},
		{"twice", archived(t, entry{"db", "a", tar.TypeReg}, entry{"db", "b", tar.TypeReg}), "file exists"},
		{"none", []byte("tar: no such directory"), "read an archive"},
	} {
		dir := filepath.Join(t.TempDir(), "data")
		c := Clients{Exec: func(_ context.Context, pod string, command []string, _ io.Reader, out io.Writer) error {
			if got := pod + " " + strings.Join(command, " "); got != "main-0-x tar -C /data/etcd -cf - member/snap" {
				t.Errorf("%s", got)
			}
			_, err := out.Write(row.archive)
			return err
		}}
		err := FetchDir{Pod: "main-0-x", From: "/data/etcd", What: "member/snap", To: dir}.Do(t.Context(), c)
		if (err != nil) != (row.want != "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.name, err, row.want)
		}
		if row.want != "" {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, "member/snap/db"))
		if err != nil || info.Mode() != 0o600 || info.Size() != 4 {
			t.Errorf("%s: %v, %v", row.name, info, err)
		}
	}
}
