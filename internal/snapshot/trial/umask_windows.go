// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"errors"
	"os/exec"
)

// startPrivate returns an error: etcd has no socket here that other users can't reach.
func startPrivate(*exec.Cmd) error {
	return errors.New("a trial needs Unix sockets, which etcd doesn't have on Windows: run it on Linux or macOS")
}
