// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package volume

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

var etcdVersion = regexp.MustCompile(`(?m)^etcd Version: (\S+)`)

// CheckRelease returns an error if a program is no etcd of the minor release of the members. Another one might change the
// copy in a way that the members can't read. members is empty if their version is not known.
func CheckRelease(ctx context.Context, program, members string) error {
	path, err := exec.LookPath(program)
	if err != nil {
		return operate.Refuse("program %s is not on this machine; install etcd of the members' minor release, or name it with --etcd", program)
	}
	out, err := exec.CommandContext(ctx, path, "--version").Output() //nolint:gosec // the user chooses the program
	if err != nil {
		return fmt.Errorf("run %s --version: %w", path, err)
	}
	found := etcdVersion.FindSubmatch(out)
	if found == nil {
		return operate.Refuse("%s doesn't show its version; name a program etcd with --etcd", path)
	}
	if have := string(found[1]); etcd.OtherRelease(members, have) {
		return operate.Refuse("%s is of etcd %s, and the members run %s; name a program of their minor release with --etcd", path, have, members)
	}
	return nil
}
