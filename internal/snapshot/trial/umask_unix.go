// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package trial

import (
	"os/exec"
	"syscall"
)

// startPrivate starts a program whose files only the user can read. etcd itself makes some that all can. The mask is that of
// the whole process, so what others create meanwhile is private, too.
func startPrivate(cmd *exec.Cmd) error {
	before := syscall.Umask(0o077)
	defer syscall.Umask(before)
	return cmd.Start()
}
