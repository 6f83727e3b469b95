// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

var etcdVersion = regexp.MustCompile(`(?m)^etcd Version: (\S+)`)

// Program returns the absolute path of a program etcd, which runs in another directory, and its version.
func Program(ctx context.Context, program string) (path, version string, err error) {
	if path, err = exec.LookPath(program); err != nil {
		return "", "", operate.Refuse("program %s is not on this machine; install etcd of the members' minor release, or name it with --etcd", program)
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", "", err
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output()
	if err != nil {
		return "", "", fmt.Errorf("run %s --version: %w", path, err)
	}
	found := etcdVersion.FindSubmatch(out)
	if found == nil {
		return "", "", operate.Refuse("%s doesn't show its version; name a program etcd with --etcd", path)
	}
	return path, string(found[1]), nil
}

// CheckRelease returns an error if the program is of another minor release than the members: it might change the copy in a
// way that they can't read. members is empty if their version is not known.
func (s *Saver) CheckRelease(members string) error {
	if etcd.OtherRelease(members, s.Version) {
		return operate.Refuse("%s is of etcd %s, and the members run %s; name a program of their minor release with --etcd", s.Etcd, s.Version, members)
	}
	return nil
}
