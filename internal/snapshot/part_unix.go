// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package snapshot

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// closeFirst is whether a file must be closed before it is renamed or removed.
const closeFirst = false

// lockFile locks a file for this process, exclusively or shared. It returns errLocked if
// another process has a lock that excludes this one, and errors.ErrUnsupported if the file
// system has no locks.
func lockFile(f *os.File, exclusive bool) error {
	how := unix.LOCK_SH
	if exclusive {
		how = unix.LOCK_EX
	}
	err := unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
	switch {
	case errors.Is(err, unix.EWOULDBLOCK):
		return errLocked
	case errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EOPNOTSUPP):
		return fmt.Errorf("%w: %w", errors.ErrUnsupported, err)
	}
	return err
}

// removeOpen removes a file that this process has open.
func removeOpen(_ *os.File, name string) error { return os.Remove(name) }

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the user's own choice
	if err != nil {
		return err
	}
	defer d.Close()
	// Some network file systems don't support this call. There is nothing else to do.
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

// freeSpace returns how many bytes this user can still write below a directory.
func freeSpace(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil //nolint:gosec,unconvert // their types differ between systems
}

// noSpace reports whether an error comes from a full disk or an exceeded quota.
func noSpace(err error) bool { return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) }
