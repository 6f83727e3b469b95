// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// partSuffix ends the name under which a snapshot is written until it is verified.
const partSuffix = ".part"

// errLocked says that another process holds the lock of a file.
var errLocked = errors.New("locked by another process")

// partFile is a snapshot that is being written, under a name that nobody takes
// for a snapshot. It is locked for as long as it is open: one that nobody has
// locked is what a killed process left, and is replaced.
type partFile struct {
	*os.File

	final string
}

// createPart begins the file that is to become final. An existing final is
// refused unless replace is set, and so is a part that somebody writes now.
func createPart(final string, replace bool) (*partFile, error) {
	if info, err := os.Lstat(final); err == nil {
		switch {
		case info.IsDir():
			return nil, fmt.Errorf("%s is a directory: name the file", final)
		case !replace:
			return nil, existsError(final)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is no regular file, and is not replaced", final)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	name := final + partSuffix
	for {
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600) //nolint:gosec // the user's own choice
		if errors.Is(err, fs.ErrExist) {
			if err := removeStale(name); err != nil {
				return nil, err
			}
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("begin snapshot: %w", err)
		}
		part := &partFile{File: file, final: final}
		if err := part.hold(); errors.Is(err, errLocked) {
			_ = file.Close() // nothing was written to it
			continue
		} else if err != nil {
			part.discard()
			return nil, err
		}
		return part, nil
	}
}

func existsError(path string) error {
	return fmt.Errorf("%s exists already: choose another name, or --force to replace it", path)
}

// removeStale removes a part that no process has locked.
func removeStale(name string) error {
	file, err := os.Open(name) //nolint:gosec // the user's own choice
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look at what an earlier save left: %w", err)
	}
	defer file.Close()
	if err := lockFile(file, true); errors.Is(err, errLocked) {
		return fmt.Errorf("another save is writing %s now", name)
	} else if err != nil {
		return fmt.Errorf("%s is there, and whether another save writes it can't be known (%w): remove it if none does", name, err)
	}
	// Whoever made a new one meanwhile has it locked, and it is another file.
	if !stillNamed(file, name) {
		return nil
	}
	return removeOpen(file, name)
}

// hold locks the file, and fails with errLocked where another process took it
// for a stale one in the moment before.
func (p *partFile) hold() error {
	err := lockFile(p.File, true)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil // O_EXCL made it ours; only a stale one can't be told
	}
	if err == nil && !stillNamed(p.File, p.Name()) {
		return errLocked
	}
	return err
}

// holdAgain is hold for a file that was shared. A program that this process starts just
// then has, for a moment, every file that was open, also those of readers that are done:
// that is waited for, while a file that another save replaced never becomes ours again.
func (p *partFile) holdAgain() error {
	err := p.hold()
	for tries := 0; tries < 500 && errors.Is(err, errLocked) && stillNamed(p.File, p.Name()); tries++ {
		time.Sleep(10 * time.Millisecond)
		err = p.hold()
	}
	return err
}

// share lets other readers of this process lock the file to read it, as bbolt
// does, and still keeps other saves away.
func (p *partFile) share() error {
	if err := lockFile(p.File, false); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("keep the lock of %s: %w", p.Name(), err)
	}
	return nil
}

func stillNamed(file *os.File, name string) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(name)
	return err == nil && os.SameFile(mine, named)
}

// discard removes the file; after commit it does nothing.
func (p *partFile) discard() {
	if stillNamed(p.File, p.Name()) {
		_ = removeOpen(p.File, p.Name()) // a part that stays does no harm
	}
	_ = p.Close() // its content is not wanted
}

// commit gives the file its final name: all of it or nothing, also for a machine
// that loses power. Without replace a file that came in the meantime stays.
func (p *partFile) commit(replace bool) error {
	if err := p.holdAgain(); err != nil {
		return fmt.Errorf("finish %s: another save has taken it over: %w", p.Name(), err)
	}
	if closeFirst {
		if err := p.Close(); err != nil {
			return fmt.Errorf("close %s: %w", p.Name(), err)
		}
	}
	if err := name(p.Name(), p.final, replace); err != nil {
		return err
	}
	if err := syncDir(filepath.Dir(p.final)); err != nil {
		return fmt.Errorf("make the name %s durable: %w", p.final, err)
	}
	if closeFirst {
		return nil
	}
	return p.Close()
}

// name moves a file. A link, unlike a rename, never replaces what is there.
func name(from, to string, replace bool) error {
	if replace {
		return os.Rename(from, to)
	}
	err := os.Link(from, to)
	switch {
	case err == nil:
		return os.Remove(from)
	case errors.Is(err, fs.ErrExist):
		return existsError(to)
	}
	// A file system without links: the moment between these two is all that is
	// left to another process.
	if _, err := os.Lstat(to); err == nil {
		return existsError(to)
	}
	return os.Rename(from, to)
}

// restart empties the file for another attempt.
func (p *partFile) restart() error {
	if err := p.holdAgain(); err != nil { // the attempt before may have shared the lock
		return fmt.Errorf("begin %s again: another save has taken it over: %w", p.Name(), err)
	}
	if err := p.Truncate(0); err != nil {
		return fmt.Errorf("empty %s: %w", p.Name(), err)
	}
	_, err := p.Seek(0, io.SeekStart)
	return err
}

// fill writes all of a small file and makes it durable.
func (p *partFile) fill(text []byte) error {
	if _, err := p.Write(text); err != nil {
		return full(err, p.final)
	}
	return p.Sync()
}

// full adds to the error of a full disk how much room there is.
func full(err error, final string) error {
	if !noSpace(err) {
		return err
	}
	dir := filepath.Dir(final)
	free, freeErr := freeSpace(dir)
	if freeErr != nil {
		return err
	}
	return fmt.Errorf("%w (%d bytes are free in %s): make room, or choose another directory", err, free, dir)
}
