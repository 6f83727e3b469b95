// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

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

// SnapshotFile is what a file that holds an etcd database says of itself.
type SnapshotFile struct {
	// Size is bytes, with the hash at the end where there is one.
	Size int64
	// Hashed says that the file ends in the hash of its database, and that it
	// fits. A file without is a copy of a member's own: nothing shows whether it
	// was copied while it changed.
	Hashed bool
	// SHA256 is the hash of the database, without the 32 bytes behind it.
	SHA256 [hashSize]byte

	SnapshotContent
}

// CorruptError is a file that is no whole etcd database.
type CorruptError struct {
	Path, Problem string
}

func (e *CorruptError) Error() string { return e.Path + ": " + e.Problem }

// openLimit is how long to wait for a database that somebody has open.
const openLimit = time.Second

// InspectSnapshot reads a file of an etcd database and checks all of it: the hash
// at its end, every page and, by bbolt, the order within. A *CorruptError says
// what is wrong with it.
func InspectSnapshot(ctx context.Context, path string) (SnapshotFile, error) {
	file, err := os.Open(path) //nolint:gosec // the user's own choice
	if err != nil {
		return SnapshotFile{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return SnapshotFile{}, err
	}
	if !info.Mode().IsRegular() {
		return SnapshotFile{}, fmt.Errorf("%s is no regular file", path)
	}
	out := SnapshotFile{Size: info.Size()}
	if out.SHA256, out.Hashed, err = checkHash(ctx, file, path, info.Size()); err != nil {
		return SnapshotFile{}, err
	}
	out.SnapshotContent, err = inspectDatabase(ctx, file, path, info.Size())
	return out, err
}

// checkHash compares the hash at the end of a file with that of what is before it.
// False for a file that by its size has none.
func checkHash(ctx context.Context, r io.Reader, path string, size int64) (sum [hashSize]byte, hashed bool, err error) {
	database := size
	switch {
	case size == 0:
		return sum, false, &CorruptError{path, "it is empty"}
	case size%sectorSize == hashSize:
		database -= hashSize
	case size%sectorSize != 0:
		return sum, false, &CorruptError{path, fmt.Sprintf("%d bytes are neither a database, which is whole blocks of %d, nor one with its hash of %d: it is cut off, or no snapshot", size, sectorSize, hashSize)}
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
		return sum, false, &CorruptError{path, fmt.Sprintf("its database has the SHA-256 %x, and the hash at its end is %x: it was changed or cut since the member sent it", sum, trailer)}
	}
	return sum, true, nil
}

// reader ends with its context.
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

// inspectDatabase checks and reads a bbolt database, with or without a hash behind it.
func inspectDatabase(ctx context.Context, r io.ReaderAt, path string, size int64) (SnapshotContent, error) {
	if err := checkPages(ctx, r, size); err != nil {
		if ctx.Err() != nil {
			return SnapshotContent{}, context.Cause(ctx)
		}
		return SnapshotContent{}, &CorruptError{path, err.Error()}
	}
	db, err := bbolt.Open(path, 0o400, &bbolt.Options{ReadOnly: true, Timeout: openLimit, NoStatistics: true})
	if errors.Is(err, bbolterrors.ErrTimeout) {
		return SnapshotContent{}, fmt.Errorf("%s is locked: a running etcd has it open; ask that member for a snapshot instead", path)
	}
	if err != nil {
		return SnapshotContent{}, fmt.Errorf("open %s: %w", path, err)
	}
	var content SnapshotContent
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
		return SnapshotContent{}, err
	}
	return content, nil
}

// checkOrder is bbolt's own check; it returns the first problem and how many more.
func checkOrder(tx *bbolt.Tx) string {
	first, count := "", 0
	for err := range tx.Check() {
		if count++; count == 1 {
			first = err.Error()
		}
	}
	if count > 1 {
		return fmt.Sprintf("%s (and %d problems more)", first, count-1)
	}
	return first
}
