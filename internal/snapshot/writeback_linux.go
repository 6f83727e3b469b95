// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"os"

	"golang.org/x/sys/unix"
)

// startWriting begins to write a range of a file to disk and doesn't wait.
func startWriting(f *os.File, from, size int64) {
	// A hint: what can't be had is done at the end.
	_ = unix.SyncFileRange(int(f.Fd()), from, size, unix.SYNC_FILE_RANGE_WRITE)
}
