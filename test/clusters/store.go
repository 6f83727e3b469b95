// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// immutable is FS_IMMUTABLE_FL of linux/fs.h.
const immutable = 0x10

// storeLimit is the time in which the first snapshot must appear after the members are Ready.
const storeLimit = 10 * time.Minute

// BreakStore makes the store of a druid cluster read-only, also for root. BackupReady becomes
// Unknown after two delta periods and False after three, but only if there is something to
// write. Without new keys, no file is due, and nothing fails. See Writer.
//
// A member that restarts meanwhile doesn't start, unless it runs as root. Druid has an init
// container change the owner of all files in the store.
func (c *Cluster) BreakStore(ctx context.Context) error {
	err := Await(ctx, storeLimit, fmt.Sprintf("a first snapshot in the store of %s", c), func(context.Context) (string, bool, error) {
		names, err := c.Snapshots()
		return "none", len(names) > 0, err
	})
	if err != nil {
		return err
	}
	if err := setImmutable(c.StoreDir(), true); err != nil {
		return fmt.Errorf("break store of %s: %w", c, err)
	}
	return nil
}

// HealStore undoes BreakStore. It returns no error for a store that is not broken or doesn't
// exist.
func (c *Cluster) HealStore(context.Context) error {
	if err := setImmutable(c.StoreDir(), false); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("heal store of %s: %w", c, err)
	}
	return nil
}

// setImmutable sets or clears the flag that chattr calls +i. Permissions would not suffice,
// because backups may run as root. Running pods would not see a mount.
func setImmutable(dir string, on bool) error {
	f, err := os.Open(dir) //nolint:gosec // below the testbed's own directory
	if err != nil {
		return err
	}
	defer f.Close()
	flags, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil {
		return fmt.Errorf("read file flags of %s: %w", dir, err)
	}
	changed := flags &^ immutable
	if on {
		changed = flags | immutable
	}
	if changed == flags {
		return nil
	}
	if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, changed); err != nil {
		return fmt.Errorf("set file flags of %s: %w", dir, err)
	}
	return nil
}
