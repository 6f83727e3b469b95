// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// closeFirst is whether a file must be closed before it is renamed or removed.
const closeFirst = true

// lockFile locks one byte far behind the end of the file, since Windows keeps other
// processes from reading a locked range. For the same reason there is nothing to do for a
// shared lock. It returns errLocked if another process has the lock.
func lockFile(f *os.File, exclusive bool) error {
	if !exclusive {
		return nil
	}
	const farBehind = 1 << 30 // in units of 4 GiB
	at := windows.Overlapped{OffsetHigh: farBehind}
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at) // if this process has locked it already
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errLocked
	}
	return err
}

// removeOpen closes and removes a file.
func removeOpen(f *os.File, name string) error {
	_ = f.Close() // its content is not needed
	return os.Remove(name)
}

// syncDir does nothing. Windows has no such call, and NTFS journals file names.
func syncDir(string) error { return nil }

// freeSpace returns how many bytes this user can still write below a directory.
func freeSpace(dir string) (int64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(path, &free, nil, nil); err != nil {
		return 0, err
	}
	return int64(min(free, 1<<62)), nil //nolint:gosec // limited to what fits
}

// noSpace reports whether an error comes from a full disk.
func noSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
