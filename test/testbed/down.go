// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
)

// Down removes a testbed and everything of it: processes, links, cgroups, files.
// It needs no state: what an Up left that was killed half way goes too, and
// where there is nothing, nothing is done.
func Down(ctx context.Context, o Options) error {
	o, err := o.complete()
	if err != nil {
		return err
	}
	if err := requireRoot(); err != nil {
		return err
	}
	unlock, err := lock(ctx, o.dir())
	if err != nil {
		return fmt.Errorf("stop testbed %s: %w", o.Name, err)
	}
	defer unlock()
	if err := newSteps(o.Log).do("testbed "+o.Name+" is gone", func() error {
		return errors.Join(clean(ctx, o), restoreLimits(ctx, o.Name), os.Remove(o.dir()))
	}); err != nil {
		return fmt.Errorf("stop testbed %s: %w", o.Name, err)
	}
	_ = os.Remove(o.StateDir) // when this was the last
	return nil
}

// Down is the function Down for this testbed.
func (t *Testbed) Down(ctx context.Context) error {
	return Down(ctx, Options{Name: t.layout.Name, StateDir: filepath.Dir(t.Dir()), Log: t.log})
}

// Names returns the testbeds that run on this host or have a run directory in
// the state directory, and that directory's path by name.
func Names(stateDir string) (map[string]string, error) {
	o, err := Options{StateDir: stateDir}.complete()
	if err != nil {
		return nil, err
	}
	found := machine.Testbeds()
	entries, err := os.ReadDir(o.StateDir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() {
			found[e.Name()] = filepath.Join(o.StateDir, e.Name())
		}
	}
	return found, nil
}

// clean empties the run directory after ending all that could use it. A testbed
// of the same name that ran in another directory goes too.
func clean(ctx context.Context, o Options) error {
	dirs := []string{o.dir()}
	if other := machine.Testbeds()[o.Name]; other != "" && other != o.dir() {
		dirs = append(dirs, other)
	}
	if err := machine.Destroy(ctx, o.Name); err != nil {
		return err
	}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		for _, e := range entries {
			if err := removeAll(filepath.Join(dir, e.Name())); err != nil {
				return err
			}
		}
		if dir != o.dir() {
			_ = os.Remove(dir)
		}
	}
	return nil
}

// removeAll is os.RemoveAll, also for files that were made immutable: that is
// how a test makes a backup store unwritable.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	if err := filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err == nil && (e.IsDir() || e.Type().IsRegular()) {
			err = makeMutable(p)
		}
		return err
	}); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// immutable are the attributes that chattr calls i and a, as linux/fs.h has them.
const immutable = 0x10 | 0x20

func makeMutable(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	attributes, err := unix.IoctlGetInt(int(f.Fd()), unix.FS_IOC_GETFLAGS)
	if err != nil || attributes&immutable == 0 {
		return nil // a file system without attributes has no immutable files
	}
	return unix.IoctlSetPointerInt(int(f.Fd()), unix.FS_IOC_SETFLAGS, attributes&^immutable)
}
