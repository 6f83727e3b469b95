// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"time"

	"go.etcd.io/bbolt"
)

// FromDatabase makes a snapshot from the database of an etcd that has stopped, as [Saver.ToFile] does. pod is the member
// whose data it is.
func FromDatabase(ctx context.Context, pod, database, path string, describe func(Saved) ([]byte, error)) (Saved, error) {
	return toFile(ctx, path, false, describe, func(part *partFile) (Saved, error) {
		got, err := copyDatabase(part, database)
		if err != nil {
			return Saved{}, withFreeSpace(err, part.final)
		}
		if err := part.share(); err != nil {
			return Saved{}, err
		}
		start := time.Now() //nolint:forbidigo // measures a duration
		content, err := inspectDatabase(ctx, part, part.Name(), got.Size)
		if err != nil {
			return Saved{}, fmt.Errorf("the data of %s: %w", pod, err)
		}
		got.Pod, got.Attempts, got.Content, got.Verify = pod, 1, &content, time.Since(start)
		return got, nil
	})
}

// copyDatabase writes the pages of a database that are in use, and their hash, and makes them durable.
func copyDatabase(part *partFile, database string) (got Saved, err error) {
	start := time.Now() //nolint:forbidigo // measures a duration
	db, err := bbolt.Open(database, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		return got, fmt.Errorf("open the database: %w", err)
	}
	hash := sha256.New()
	err = db.View(func(tx *bbolt.Tx) error {
		size, err := tx.WriteTo(io.MultiWriter(part, hash))
		got.Size = size + hashSize
		return err
	})
	if err := errors.Join(err, db.Close()); err != nil {
		return got, err
	}
	copy(got.SHA256[:], hash.Sum(nil))
	if _, err := part.Write(got.SHA256[:]); err != nil {
		return got, err
	}
	err = part.Sync()
	got.Transfer = time.Since(start)
	return got, err
}
