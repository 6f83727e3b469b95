// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Cache is a folder of things that were made once and can be made again, kept
// by name and content key. The zero value is kubectl-etcd-testbed in the user's
// cache folder. Deleting it costs time and nothing else.
type Cache struct{ Dir string }

// unusedFor is how long an entry stays without being asked for, once a newer
// one of its name has been made: long enough for a second checkout or branch.
const unusedFor = 7 * 24 * time.Hour

// unfinished begins the names of folders that are still being filled.
const unfinished = ".making-"

// lockFile stands among the entries of one name.
const lockFile = ".lock"

// Find returns the folder of an entry, or "" where there is none. Names have two
// parts: kind/thing.
func (c Cache) Find(name, key string) (string, error) {
	folder, err := c.folder(name)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(folder, key)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("read the cache: %w", err)
	}
	touch(dir)
	return dir, nil
}

// Make returns the folder of an entry. Where there is none, it has fill put the
// content into an empty folder first, which becomes the entry at once and whole
// when fill has returned nil, and is removed otherwise. Of several processes
// that make one name at the same time one works and the others wait.
func (c Cache) Make(ctx context.Context, name, key string, fill func(dir string) error) (string, error) {
	folder, err := c.folder(name)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil { //nolint:gosec // holds programs for every user to run
		return "", fmt.Errorf("make the cache: %w", err)
	}
	unlock, err := Lock(ctx, filepath.Join(folder, lockFile))
	if err != nil {
		return "", err
	}
	defer unlock()
	if dir, err := c.Find(name, key); dir != "" || err != nil {
		return dir, err
	}
	if err := sweep(folder); err != nil {
		return "", err
	}
	return fillEntry(folder, key, fill)
}

// Remove deletes every entry, and the folder of the cache where nothing else is
// in it.
func (c Cache) Remove() error {
	dir, err := c.folder("")
	if err != nil {
		return err
	}
	locks, err := filepath.Glob(filepath.Join(dir, "*", "*", lockFile))
	if err != nil {
		return fmt.Errorf("remove the cache: %w", err)
	}
	for _, lock := range locks {
		if err := os.RemoveAll(filepath.Dir(lock)); err != nil {
			return fmt.Errorf("remove the cache: %w", err)
		}
		_ = os.Remove(filepath.Dir(filepath.Dir(lock))) // the last one of its kind succeeds
	}
	_ = os.Remove(dir)
	return nil
}

// folder returns where the entries of name stand.
func (c Cache) folder(name string) (string, error) {
	dir := c.Dir
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("find the user's cache folder: %w", err)
		}
		dir = filepath.Join(user, "kubectl-etcd-testbed")
	}
	return filepath.Join(dir, filepath.FromSlash(name)), nil
}

// fillEntry makes the entry under another name and renames it when it is whole.
func fillEntry(folder, key string, fill func(dir string) error) (string, error) {
	making, err := os.MkdirTemp(folder, unfinished)
	if err != nil {
		return "", fmt.Errorf("make a cache entry: %w", err)
	}
	defer func() { _ = os.RemoveAll(making) }()     // after the rename there is nothing to remove
	if err := os.Chmod(making, 0o755); err != nil { //nolint:gosec // holds programs for every user to run
		return "", fmt.Errorf("make a cache entry: %w", err)
	}
	if err := fill(making); err != nil {
		return "", err
	}
	dir := filepath.Join(folder, key)
	if err := os.Rename(making, dir); err != nil {
		return "", fmt.Errorf("keep a cache entry: %w", err)
	}
	return dir, nil
}

// sweep removes what killed processes left half made, and entries that no one
// has asked for in a long time. The caller holds the lock.
func sweep(folder string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return fmt.Errorf("sweep the cache: %w", err)
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err != nil || !entry.IsDir() {
			continue
		}
		if !strings.HasPrefix(entry.Name(), unfinished) && time.Since(info.ModTime()) < unusedFor {
			continue
		}
		if err := os.RemoveAll(filepath.Join(folder, entry.Name())); err != nil {
			return fmt.Errorf("sweep the cache: %w", err)
		}
	}
	return nil
}

// touch notes that the entry is in use. A cache that can't be written still serves.
func touch(dir string) {
	now := time.Now() //nolint:forbidigo // compared with the file system's own times
	_ = os.Chtimes(dir, now, now)
}
