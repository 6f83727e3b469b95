// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blob

import (
	"path/filepath"
	"strings"
)

// localPath returns the path of this system for the path of a URL, such as /C:/backup.
func localPath(p string) string { return filepath.FromSlash(strings.TrimPrefix(p, "/")) }
