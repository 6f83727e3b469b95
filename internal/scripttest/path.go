// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scripttest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// PathWithout is PATH but for the folders that hold a program of this name: what the
// machine has installed is no part of a test.
func PathWithout(program string) string {
	folders := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(folder string) bool {
		_, err := os.Stat(filepath.Join(folder, program))
		return err == nil
	})
	return strings.Join(folders, string(filepath.ListSeparator))
}
