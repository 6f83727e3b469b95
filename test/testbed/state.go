// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// errBusy is returned while another process starts or stops the same testbed.
var errBusy = errors.New("another process is starting or stopping it")

// lockTimeout is how long lock waits: an up that was just killed releases
// the lock a moment later.
const lockTimeout = 10 * time.Second

// lock takes the run directory for Up and Down, making it if need be. The lock
// ends with the process that holds it.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockTimeout, errBusy)
	defer cancel()
	for {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		d, err := os.Open(dir)
		if err != nil {
			return nil, err
		}
		err = unix.Flock(int(d.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil && isStill(d, dir) {
			return func() { _ = d.Close() }, nil
		}
		_ = d.Close()
		if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("lock %s: %w", dir, err)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// isStill reports whether the path leads to the open directory, and not to one
// made after that was removed.
func isStill(d *os.File, path string) bool {
	opened, err := d.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(opened, now)
}

// loadLayout returns fs.ErrNotExist where no testbed is.
func loadLayout(dir string) (layout, error) {
	var l layout
	data, err := os.ReadFile(layoutFile(dir))
	if err != nil {
		return l, err
	}
	if err := json.Unmarshal(data, &l); err != nil {
		return l, fmt.Errorf("read %s: %w", layoutFile(dir), err)
	}
	return l, nil
}

func (l layout) save() error {
	data, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	part := layoutFile(l.Dir) + ".part"
	if err := os.WriteFile(part, append(data, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(part, layoutFile(l.Dir))
}

// layouts returns every testbed in the state directory.
func layouts(stateDir string) ([]layout, error) {
	files, err := filepath.Glob(layoutFile(filepath.Join(stateDir, "*")))
	if err != nil {
		return nil, err
	}
	var all []layout
	for _, file := range files {
		l, err := loadLayout(filepath.Dir(file))
		if errors.Is(err, fs.ErrNotExist) {
			continue // taken down meanwhile
		}
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, nil
}
