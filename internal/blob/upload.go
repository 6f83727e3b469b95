// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	cloud "gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// cleanupLimit is the time to delete an object that is not valid, also after an interruption.
const cleanupLimit = 30 * time.Second

// ErrExists is the error if an object of the name exists and must not be replaced.
var ErrExists = errors.New("it exists already")

// CheckNew returns an error that is ErrExists if the folder has an object of this name.
func (s *Store) CheckNew(ctx context.Context, name string) error {
	found, err := s.bucket.Exists(ctx, name)
	if err != nil {
		return s.failed("read", name, err)
	}
	if found {
		return s.failed("write", name, ErrExists)
	}
	return nil
}

// Upload stores a verified file under a name. It reads the object back and compares the hashes, because
// not every store checks what it receives. If they differ, it deletes the object. If the object can't be read, it
// deletes one that is new. With replace, it keeps the object then, because the one before is gone. Without replace,
// it fails if the object exists.
func (s *Store) Upload(ctx context.Context, name, file string, replace bool) error {
	f, err := os.Open(file) //nolint:gosec // the caller's own file
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	report := progressOf(ctx)
	sent, err := s.write(ctx, name, io.TeeReader(f, &counter{report: report, total: info.Size()}), !replace)
	if err != nil && strings.Contains(err.Error(), "NotImplemented") && !replace {
		// The store has no conditional write.
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := s.CheckNew(ctx, name); err != nil {
			return err
		}
		sent, err = s.write(ctx, name, f, false)
	}
	if gcerrors.Code(err) == gcerrors.FailedPrecondition {
		err = ErrExists
	}
	if err != nil {
		return s.failed("write", name, err)
	}
	stored, err := s.hash(ctx, name)
	switch {
	case err == nil && stored == sent:
		return nil
	case err != nil && replace:
		return s.failed("verify", name, fmt.Errorf("%w; the object has replaced the one before, and it is not known whether the store has it whole: read it with kubectl etcd snapshot status", err))
	case err == nil:
		err = fmt.Errorf("the store returns other data than it received: SHA-256 %x, not %x", stored, sent)
	}
	return s.withdraw(ctx, name, err)
}

// withdraw deletes an object that is not verified.
func (s *Store) withdraw(ctx context.Context, name string, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanupLimit)
	defer cancel()
	if err := s.bucket.Delete(ctx, name); err != nil && gcerrors.Code(err) != gcerrors.NotFound {
		return s.failed("verify", name, fmt.Errorf("%w; delete the object, which is not verified: this failed too: %w", cause, err))
	}
	return s.failed("verify", name, fmt.Errorf("%w; the object is deleted", cause))
}

// write stores an object. The object appears only when all data is stored.
func (s *Store) write(ctx context.Context, name string, from io.Reader, create bool) ([sha256.Size]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var sum [sha256.Size]byte
	w, err := s.bucket.NewWriter(ctx, name, &cloud.WriterOptions{ContentType: "application/octet-stream", IfNotExist: create})
	if err != nil {
		return sum, err
	}
	hash := sha256.New()
	if _, err := io.Copy(w, io.TeeReader(from, hash)); err != nil {
		cancel() // Close then discards what was written
		return sum, errors.Join(err, ignoreCancelled(w.Close()))
	}
	copy(sum[:], hash.Sum(nil))
	return sum, w.Close()
}

func ignoreCancelled(err error) error {
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

func (s *Store) hash(ctx context.Context, name string) (sum [sha256.Size]byte, err error) {
	r, err := s.bucket.NewReader(ctx, name, nil)
	if err != nil {
		return sum, err
	}
	defer r.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, r); err != nil {
		return sum, err
	}
	copy(sum[:], hash.Sum(nil))
	return sum, nil
}

// WriteSmall stores a small object, and replaces an earlier one.
func (s *Store) WriteSmall(ctx context.Context, name string, text []byte) error {
	if err := s.bucket.WriteAll(ctx, name, text, &cloud.WriterOptions{ContentType: "application/json"}); err != nil {
		return s.failed("write", name, err)
	}
	return nil
}
