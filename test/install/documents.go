// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"fmt"
	"os"
	"strings"
)

// ShellBlock returns the first block of commands on a page after these texts.
func ShellBlock(path, texts string) (string, error) {
	text, err := os.ReadFile(path) //nolint:gosec // the test chooses the page
	if err != nil {
		return "", err
	}
	_, after, found := strings.Cut(string(text), texts)
	_, after, opened := strings.Cut(after, "```sh\n")
	block, _, closed := strings.Cut(after, "\n```")
	if !found || !opened || !closed {
		return "", fmt.Errorf("%s has no block to type after %q", path, texts)
	}
	return block, nil
}
