// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// FetchDir copies what is in a directory of a pod into a directory of this machine, which it makes. It is no
// Action: no plan prints it.
type FetchDir struct {
	Pod, From string
	// What is a file or directory in From, "." for all of it.
	What, To string
}

// Do copies it.
func (d FetchDir) Do(ctx context.Context, c Clients) error {
	if err := os.MkdirAll(d.To, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(d.To)
	if err != nil {
		return err
	}
	defer root.Close()
	in, out := io.Pipe()
	unpacked := make(chan error, 1)
	go func() {
		err := unpack(root, in)
		unpacked <- err
		_ = in.CloseWithError(err) // it never fails
	}()
	err = c.exec(ctx, d.Pod, []string{"tar", "-C", d.From, "-cf", "-", d.What}, nil, out)
	_ = out.CloseWithError(err) // it never fails
	return errors.Join(err, <-unpacked)
}

// unpack writes the files of an archive below a directory. It only takes files and directories. The pod that sends the archive
// can't write elsewhere.
func unpack(root *os.Root, r io.Reader) error {
	archive := tar.NewReader(r)
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, r) // what pads the archive
			return err
		}
		if err != nil {
			return fmt.Errorf("read an archive of files: %w", err)
		}
		switch h.Typeflag {
		case tar.TypeDir:
			err = root.MkdirAll(filepath.Clean(h.Name), 0o700)
		case tar.TypeReg:
			err = unpackFile(root, filepath.Clean(h.Name), archive)
		default:
			err = fmt.Errorf("%s is neither a file nor a directory", format.Quote(h.Name))
		}
		if err != nil {
			return fmt.Errorf("unpack an archive of files: %w", err)
		}
	}
}

func unpackFile(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, content)
	return errors.Join(err, file.Close())
}
