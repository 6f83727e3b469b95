// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shellBlock is the first block to type that a document of the checkout has after some
// words.
func shellBlock(tb testing.TB, file, words string) string {
	tb.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", file))
	if err != nil {
		tb.Fatal(err)
	}
	_, after, found := strings.Cut(string(text), words)
	_, after, opened := strings.Cut(after, "```sh\n")
	block, _, closed := strings.Cut(after, "\n```")
	if !found || !opened || !closed {
		tb.Fatalf("%s has no block to type after %q", file, words)
	}
	return block
}

// inShell types lines as a person does who is in the checkout.
func inShell(ctx context.Context, lines string) (said []byte, err error) {
	cmd := exec.CommandContext(ctx, "sh", "-ec", lines)
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "KUBECONFIG="+bed.Kubeconfig(), "PATH="+bed.Bin()+":"+os.Getenv("PATH"))
	return cmd.CombinedOutput()
}
