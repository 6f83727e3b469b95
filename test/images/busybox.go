// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// ensureBusybox returns the path of a busybox that needs no library: the
// machine's own or that of Debian's package. The package is unpacked into the
// cache and not installed, since it would drive out the busybox that a machine
// may boot with.
func ensureBusybox(ctx context.Context, cache programs.Cache, progress io.Writer) (string, error) {
	if path, err := exec.LookPath("busybox"); err == nil && isStatic(path) {
		return path, nil
	}
	dir, err := cache.Make(ctx, "debian/busybox-static", runtime.GOARCH, func(dir string) error {
		fmt.Fprintln(progress, "fetching Debian's package busybox-static")
		return fetchBusybox(ctx, dir)
	})
	if err != nil {
		return "", fmt.Errorf("get a busybox that needs no library (install Debian's package busybox-static): %w", err)
	}
	return filepath.Join(dir, "busybox"), nil
}

// fetchBusybox puts the package's busybox into dir.
func fetchBusybox(ctx context.Context, dir string) error {
	const pkg = "busybox-static"
	unlock, err := programs.Lock(ctx, programs.Packages)
	if err != nil {
		return err
	}
	defer unlock()
	if err := command(ctx, dir, "apt-get", "download", pkg); err != nil {
		// The machine's lists of packages may be missing or old.
		if updateErr := command(ctx, dir, "apt-get", "update"); updateErr != nil {
			return errors.Join(err, updateErr)
		}
		if err := command(ctx, dir, "apt-get", "download", pkg); err != nil {
			return err
		}
	}
	archives, err := filepath.Glob(filepath.Join(dir, pkg+"_*.deb"))
	if err != nil || len(archives) != 1 {
		return fmt.Errorf("%d archives of %s in %s", len(archives), pkg, dir)
	}
	if err := command(ctx, dir, "dpkg-deb", "--extract", archives[0], "unpacked"); err != nil {
		return err
	}
	for _, path := range []string{"bin/busybox", "usr/bin/busybox"} {
		if err := os.Rename(filepath.Join(dir, "unpacked", path), filepath.Join(dir, "busybox")); err == nil {
			return errors.Join(os.RemoveAll(filepath.Join(dir, "unpacked")), os.Remove(archives[0]))
		}
	}
	return fmt.Errorf("%s has no busybox", filepath.Base(archives[0]))
}

// command runs a program in dir; its output goes to the error.
func command(ctx context.Context, dir, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...) //nolint:gosec // this file's callers name the programs
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd, err, bytes.TrimSpace(out))
	}
	return nil
}

// isStatic reports whether a program runs without a dynamic loader.
func isStatic(path string) bool {
	program, err := elf.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = program.Close() }()
	for _, part := range program.Progs {
		if part.Type == elf.PT_INTERP {
			return false
		}
	}
	return true
}

// busyboxFiles are busybox and a link for each of its tools.
func busyboxFiles(path string) ([]file, error) {
	tools, err := exec.Command(path, "--list").Output()
	if err != nil {
		return nil, fmt.Errorf("list the tools of %s: %w", path, err)
	}
	files := []file{
		{path: "/bin", folder: true, mode: 0o755},
		{path: "/bin/busybox", from: path, mode: 0o755},
	}
	for tool := range strings.FieldsSeq(string(tools)) {
		if tool != "busybox" {
			files = append(files, file{path: "/bin/" + tool, link: "/bin/busybox", mode: 0o777})
		}
	}
	return files, nil
}
