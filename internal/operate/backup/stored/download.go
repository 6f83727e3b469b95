// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package stored

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
)

// Download returns the local file of a snapshot, and a function that deletes it. A file, and a URL of
// one, is used as it is. An object of a bucket is downloaded with its description, and is verified.
func (s Stores) Download(ctx context.Context, arg string) (file string, clean func(), err error) {
	nothing := func() {}
	l, err := s.Object(arg)
	if err != nil || l == nil {
		return arg, nothing, err
	}
	if file, ok := l.File(); ok {
		return file, nothing, nil
	}
	dir, err := os.MkdirTemp("", "kubectl-etcd-snapshot-")
	if err != nil {
		return "", nothing, err
	}
	clean = func() { _ = os.RemoveAll(dir) }
	file = filepath.Join(dir, path.Base("/"+l.Name))
	s.Notef("Downloading %s", l)
	fetching, end := s.transfer(ctx, "download")
	err = blob.Fetch(fetching, *l, file)
	end()
	if err == nil {
		err = fetchRecord(ctx, *l, file)
	}
	if err != nil {
		clean()
		return "", nothing, err
	}
	return file, clean, nil
}

// fetchRecord writes the description of a snapshot next to it, if the store has one.
func fetchRecord(ctx context.Context, l blob.Location, file string) error {
	store, err := blob.Open(ctx, l)
	if err != nil {
		return err
	}
	defer store.Close()
	text, err := store.ReadSmall(ctx, l.Name+blob.RecordSuffix, longestDescription)
	if err != nil || text == nil {
		return err
	}
	return os.WriteFile(file+blob.RecordSuffix, text, 0o600)
}

// FromStdin returns a temporary file with the snapshot that a command gets on stdin, and a function that deletes it.
func FromStdin(in io.Reader) (file string, clean func(), err error) {
	dir, err := os.MkdirTemp("", "kubectl-etcd-")
	if err != nil {
		return "", nil, err
	}
	clean = func() { _ = os.RemoveAll(dir) } // only a copy is left
	file = filepath.Join(dir, "stdin.db")
	to, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o600) //nolint:gosec // in a new directory
	if err == nil {
		_, err = io.Copy(to, in)
		err = errors.Join(err, to.Close())
	}
	if err != nil {
		clean()
		return "", nil, fmt.Errorf("read the snapshot from stdin: %w", err)
	}
	return file, clean, nil
}
