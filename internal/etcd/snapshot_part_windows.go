// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// closeFirst says that an open file can't be renamed or removed.
const closeFirst = true

// lockFile locks a byte far behind the end of the file, since Windows keeps
// others from reading what is locked. Sharing needs nothing for the same reason.
// errLocked when another process has it.
func lockFile(f *os.File, exclusive bool) error {
	if !exclusive {
		return nil
	}
	const farBehind = 1 << 30 // times 4 GiB
	at := windows.Overlapped{OffsetHigh: farBehind}
	flags := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
	_ = windows.UnlockFileEx(windows.Handle(f.Fd()), 0, 1, 0, &at) // where this process locked it before
	err := windows.LockFileEx(windows.Handle(f.Fd()), flags, 0, 1, 0, &at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return errLocked
	}
	return err
}

// removeOpen removes a file that this process has open, and closes it first.
func removeOpen(f *os.File, name string) error {
	_ = f.Close() // it goes away
	return os.Remove(name)
}

// syncDir does nothing: Windows has no such call, and NTFS journals names.
func syncDir(string) error { return nil }

// freeSpace is how many bytes this user may still write below a directory.
func freeSpace(dir string) (int64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(path, &free, nil, nil); err != nil {
		return 0, err
	}
	return int64(min(free, 1<<62)), nil //nolint:gosec // cut to what fits
}

// noSpace says that an error is of a full disk.
func noSpace(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL)
}
