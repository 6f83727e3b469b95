// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scripttest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// PathWithout returns PATH without the directories that contain a program of this name, so that
// a test does not depend on the programs of the machine.
func PathWithout(program string) string {
	folders := slices.DeleteFunc(filepath.SplitList(os.Getenv("PATH")), func(folder string) bool {
		_, err := os.Stat(filepath.Join(folder, program))
		return err == nil
	})
	return strings.Join(folders, string(filepath.ListSeparator))
}
