// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// Progress is called with the number of bytes transferred so far, and with the total.
type Progress func(done, total int64)

// progressKey is the key of a Progress in a context.
type progressKey struct{}

// WithProgress returns a context with which Fetch and Upload report their progress.
func WithProgress(ctx context.Context, report Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

func progressOf(ctx context.Context) Progress {
	if report, ok := ctx.Value(progressKey{}).(Progress); ok {
		return report
	}
	return func(int64, int64) {}
}

// counter reports the bytes that are written to it.
type counter struct {
	report      Progress
	done, total int64
}

func (c *counter) Write(p []byte) (int, error) {
	c.done += int64(len(p))
	c.report(c.done, c.total)
	return len(p), nil
}

// Fetch downloads the snapshot at a location to a local file and verifies it completely, as
// snapshot.Inspect does. The file gets its name only when it is verified. An earlier file of this name
// is replaced. A damaged snapshot is a *snapshot.CorruptError. The progress goes to the function of
// WithProgress.
func Fetch(ctx context.Context, l Location, to string) error {
	if l.Name == "" {
		return fmt.Errorf("%s is a folder: add the name of a snapshot, which kubectl etcd snapshot list %s shows", l, l)
	}
	s, err := Open(ctx, l)
	if err != nil {
		return err
	}
	defer s.Close()
	return s.fetch(ctx, l, to)
}

func (s *Store) fetch(ctx context.Context, l Location, to string) error {
	part := to + ".part"
	if err := s.download(ctx, l.Name, part); err != nil {
		return errors.Join(err, removed(part))
	}
	if _, err := snapshot.Inspect(ctx, part); err != nil {
		if corrupt, ok := errors.AsType[*snapshot.CorruptError](err); ok {
			err = &snapshot.CorruptError{Path: l.String(), Problem: corrupt.Problem}
		}
		return errors.Join(err, removed(part))
	}
	return os.Rename(part, to)
}

func removed(file string) error {
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

func (s *Store) download(ctx context.Context, name, to string) error {
	r, err := s.bucket.NewReader(ctx, name, nil)
	if err != nil {
		return s.failed("read", name, err)
	}
	defer r.Close()
	f, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600) //nolint:gosec // the caller's own file
	if err != nil {
		return err
	}
	n, err := io.Copy(f, io.TeeReader(r, &counter{report: progressOf(ctx), total: r.Size()}))
	if err == nil && r.Size() > 0 && n != r.Size() { // some stores don't send the size
		err = fmt.Errorf("the transfer ended after %d of %d bytes", n, r.Size())
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return s.failed("read", name, err)
	}
	return nil
}
