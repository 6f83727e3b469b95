// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// shellBlock returns the first block of commands on a page of this checkout after these texts.
func shellBlock(tb testing.TB, file, texts string) string {
	tb.Helper()
	block, err := ShellBlock(filepath.Join("..", "..", file), texts)
	if err != nil {
		tb.Fatal(err)
	}
	return block
}

// inShell runs lines of shell in the checkout, as a user would.
func inShell(ctx context.Context, lines string) (printed []byte, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-ec", lines)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+bed.Kubeconfig(), "PATH="+bed.Bin()+":"+os.Getenv("PATH"))
	return cmd.CombinedOutput()
}
