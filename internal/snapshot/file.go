// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package snapshot fetches a snapshot of an etcd database from a member, writes it to a
// file, and reads and checks such files. It knows nothing about Kubernetes or about how to
// reach a member: a Source provides the connection.
package snapshot

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"go.etcd.io/bbolt"
	bbolterrors "go.etcd.io/bbolt/errors"
)

// File describes a file that contains an etcd database.
type File struct {
	// Size is in bytes and includes the hash at the end, if there is one.
	Size int64
	// Modified is when the file was last written. A copy has the time of its own.
	Modified time.Time
	// Hashed reports whether the file ends with the hash of its database, and the hash
	// matches. A file without a hash is a copy of a member's own file. It may have been
	// copied while it changed.
	Hashed bool
	// SHA256 is the hash of the database, without the 32 bytes behind it.
	SHA256 [hashSize]byte

	Content
}

// CorruptError is the error for a file that is not a complete etcd database.
type CorruptError struct {
	Path, Problem string
}

func (e *CorruptError) Error() string { return e.Path + ": " + e.Problem }

// openLimit is how long to wait for a database that another process has open.
const openLimit = time.Second

// Inspect reads a file with an etcd database and checks all of it: the hash at its end,
// every page, and by bbolt's own check the order of its keys. It returns a *CorruptError
// for a file that fails a check.
func Inspect(ctx context.Context, path string) (File, error) {
	file, err := os.Open(path) //nolint:gosec // the user's own choice
	if err != nil {
		return File{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return File{}, err
	}
	if !info.Mode().IsRegular() {
		return File{}, fmt.Errorf("%s is not a regular file", path)
	}
	if gzipped(file) {
		return File{}, &CorruptError{path, "it is compressed by gzip, as by etcd-druid with spec.backup.compression: decompress it first: gunzip < FILE > snapshot.db"}
	}
	out := File{Size: info.Size(), Modified: info.ModTime()}
	if out.SHA256, out.Hashed, err = checkHash(ctx, file, path, info.Size()); err != nil {
		return File{}, err
	}
	out.Content, err = inspectDatabase(ctx, file, path, info.Size())
	return out, err
}

// gzipped reports whether a file begins like one that gzip has compressed.
func gzipped(r io.ReaderAt) bool {
	var magic [2]byte
	_, err := r.ReadAt(magic[:], 0)
	return err == nil && magic == [2]byte{0x1f, 0x8b}
}

// checkHash compares the hash at the end of a file with the hash of what precedes it.
// hashed is false for a file whose size shows that it has none.
func checkHash(ctx context.Context, r io.Reader, path string, size int64) (sum [hashSize]byte, hashed bool, err error) {
	database := size
	switch {
	case size == 0:
		return sum, false, &CorruptError{path, "it is empty"}
	case size%sectorSize == hashSize:
		database -= hashSize
	case size%sectorSize != 0:
		return sum, false, &CorruptError{path, fmt.Sprintf("%d bytes is neither the size of a database, a multiple of %d, nor that of a snapshot, %d bytes more: the file is truncated, or is something else", size, sectorSize, hashSize)}
	}
	hash := sha256.New()
	if _, err := io.CopyN(hash, reader{ctx, r}, database); err != nil {
		return sum, false, fmt.Errorf("read %s: %w", path, err)
	}
	copy(sum[:], hash.Sum(nil))
	if database == size {
		return sum, false, nil
	}
	var trailer [hashSize]byte
	if _, err := io.ReadFull(r, trailer[:]); err != nil {
		return sum, false, fmt.Errorf("read %s: %w", path, err)
	}
	if trailer != sum {
		return sum, false, &CorruptError{path, fmt.Sprintf("its database has the SHA-256 %x, and the hash at its end is %x: it was changed or truncated after the member sent it", sum, trailer)}
	}
	return sum, true, nil
}

// reader is a reader that fails when its context ends.
type reader struct {
	ctx context.Context //nolint:containedctx // io.Reader takes none
	r   io.Reader
}

func (r reader) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.r.Read(p)
}

// inspectDatabase checks and reads a bbolt database, with or without a hash at its end.
func inspectDatabase(ctx context.Context, r io.ReaderAt, path string, size int64) (Content, error) {
	if err := checkPages(ctx, r, size); err != nil {
		if ctx.Err() != nil {
			return Content{}, context.Cause(ctx)
		}
		return Content{}, &CorruptError{path, err.Error()}
	}
	db, err := bbolt.Open(path, 0o400, &bbolt.Options{ReadOnly: true, Timeout: openLimit, NoStatistics: true})
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return Content{}, fmt.Errorf("%s is locked by another process, for example a running etcd: take a snapshot of that member instead", path)
	}
	if err != nil {
		return Content{}, fmt.Errorf("open %s: %w", path, err)
	}
	var content Content
	err = db.View(func(tx *bbolt.Tx) error {
		if problem := checkOrder(tx); problem != "" {
			return &CorruptError{path, problem}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		content, err = readContent(ctx, tx)
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return Content{}, err
	}
	return content, nil
}

// checkOrder runs bbolt's own check. It returns the first problem and the number of
// others.
func checkOrder(tx *bbolt.Tx) string {
	first, count := "", 0
	for err := range tx.Check() {
		if count++; count == 1 {
			first = err.Error()
		}
	}
	if count > 1 {
		return fmt.Sprintf("%s (and %d more problems)", first, count-1)
	}
	return first
}
