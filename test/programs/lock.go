// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// Packages is the file that every caller of apt locks: apt has a lock of its own, but
// releases it between fetching archives and unpacking them, and some hosts remove
// them after every call.
const Packages = "/var/lib/dpkg/lock"

// Lock takes the lock file at path, waiting for its holder until ctx is
// done, and returns a function that releases it. The kernel releases it when a process dies,
// so no lock outlives a crash. The file stays: removing it would let two
// processes hold locks of the same name.
func Lock(ctx context.Context, path string) (func(), error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644) //nolint:gosec // the cache's own file
	if err != nil {
		return nil, err
	}
	poll := time.NewTicker(100 * time.Millisecond)
	defer poll.Stop()
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR) {
			_ = file.Close()
			return nil, fmt.Errorf("lock %s: %w", path, err)
		}
		select {
		case <-ctx.Done():
			_ = file.Close()
			return nil, fmt.Errorf("wait for another process to unlock %s: %w", path, ctx.Err())
		case <-poll.C:
		}
	}
}
