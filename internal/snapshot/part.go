// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// partSuffix is the suffix of the file name until the snapshot is verified.
const partSuffix = ".part"

// errLocked is the error if another process holds the lock of a file.
var errLocked = errors.New("locked by another process")

// errWriting is the error if another save is writing a temporary file.
var errWriting = errors.New("another save is writing")

// partFile is a snapshot that is being written, under a temporary name. It is locked
// while it is open. An unlocked one was left by a killed process and is replaced.
type partFile struct {
	*os.File

	final string
}

// createPart creates the temporary file for final. It fails if final exists, unless
// replace is set, and if another save is writing the temporary file.
func createPart(final string, replace bool) (*partFile, error) {
	if info, err := os.Lstat(final); err == nil {
		switch {
		case info.IsDir():
			return nil, fmt.Errorf("%s is a directory: specify a file", final)
		case !replace:
			return nil, existsError(final)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is not a regular file and is not replaced", final)
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
			return nil, fmt.Errorf("create the snapshot's file: %w", err)
		}
		part := &partFile{File: file, final: final}
		if err := part.lock(); errors.Is(err, errLocked) {
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
	return fmt.Errorf("%s exists already: choose another name, or use --force to replace it", path)
}

// removeStale removes a temporary file that no process has locked.
func removeStale(name string) error {
	file, err := os.Open(name) //nolint:gosec // the user's own choice
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("open the file that an earlier save left: %w", err)
	}
	defer file.Close()
	if err := lockFile(file, true); errors.Is(err, errLocked) {
		return fmt.Errorf("%w %s", errWriting, name)
	} else if err != nil {
		return fmt.Errorf("%s exists, and it is unknown whether another save is writing it (%w): remove it if none is", name, err)
	}
	// If the name belongs to another file by now, its creator has that one locked.
	if !stillNamed(file, name) {
		return nil
	}
	return removeOpen(file, name)
}

// lock locks the file. It returns errLocked if another process has just removed it as
// stale.
func (p *partFile) lock() error {
	err := lockFile(p.File, true)
	if errors.Is(err, errors.ErrUnsupported) {
		return nil // O_EXCL prevents two writers; only stale files can't be recognized
	}
	if err == nil && !stillNamed(p.File, p.Name()) {
		return errLocked
	}
	return err
}

// relock converts a shared lock into an exclusive one. A child process that is forked
// meanwhile inherits the descriptors of this process, and thereby the lock, until it calls
// exec. So relock retries for up to 5 s, unless another save has replaced the file.
func (p *partFile) relock() error {
	err := p.lock()
	for tries := 0; tries < 500 && errors.Is(err, errLocked) && stillNamed(p.File, p.Name()); tries++ {
		time.Sleep(10 * time.Millisecond)
		err = p.lock()
	}
	return err
}

// share converts the exclusive lock into a shared one, so that bbolt can lock the file to
// read it. Other saves remain excluded.
func (p *partFile) share() error {
	if err := lockFile(p.File, false); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("keep the lock of %s: %w", p.Name(), err)
	}
	return nil
}

// stillNamed reports whether name still refers to file.
func stillNamed(file *os.File, name string) bool {
	mine, err := file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(name)
	return err == nil && os.SameFile(mine, named)
}

// discard closes and removes the file. After commit it does nothing.
func (p *partFile) discard() {
	if stillNamed(p.File, p.Name()) {
		_ = removeOpen(p.File, p.Name()) // a file that remains does no harm
	}
	_ = p.Close() // its content is not needed
}

// commit gives the file its final name, atomically and durably even if the machine loses
// power. Without replace it keeps a file that another process has created meanwhile.
func (p *partFile) commit(replace bool) error {
	if err := p.relock(); err != nil {
		return fmt.Errorf("finish %s: another save has replaced it: %w", p.Name(), err)
	}
	if closeFirst {
		if err := p.Close(); err != nil {
			return fmt.Errorf("close %s: %w", p.Name(), err)
		}
	}
	if err := move(p.Name(), p.final, replace); err != nil {
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

// move renames a file. Without replace it uses a link, which never replaces a file.
func move(from, to string, replace bool) error {
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
	// The file system has no links. A file that another process creates between these
	// two calls is replaced.
	if _, err := os.Lstat(to); err == nil {
		return existsError(to)
	}
	return os.Rename(from, to)
}

// restart truncates the file for another attempt.
func (p *partFile) restart() error {
	if err := p.relock(); err != nil { // the previous attempt may have shared the lock
		return fmt.Errorf("restart %s: another save has replaced it: %w", p.Name(), err)
	}
	if err := p.Truncate(0); err != nil {
		return fmt.Errorf("truncate %s: %w", p.Name(), err)
	}
	_, err := p.Seek(0, io.SeekStart)
	return err
}

// fill writes the whole content of a small file and makes it durable.
func (p *partFile) fill(text []byte) error {
	if _, err := p.Write(text); err != nil {
		return withFreeSpace(err, p.final)
	}
	return p.Sync()
}

// withFreeSpace adds the free space to the error of a full disk.
func withFreeSpace(err error, final string) error {
	if !noSpace(err) {
		return err
	}
	dir := filepath.Dir(final)
	free, freeErr := freeSpace(dir)
	if freeErr != nil {
		return err
	}
	return fmt.Errorf("%w (%d bytes are free in %s): free some space, or choose another directory", err, free, dir)
}
