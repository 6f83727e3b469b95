// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// namesFile reports whether a setting is the path of a file or a directory.
func namesFile(flag string) bool {
	return flag == "data-dir" || flag == "wal-dir" || strings.HasSuffix(flag, "-file")
}

// elsewhere returns why a path may not be the container's own for etcd, nil if it is.
func (s *settings) elsewhere(name string) error {
	if by := s.replacedBy(name); by != "" {
		return fmt.Errorf("%s may give etcd other files at %s than its container has", by, name)
	}
	return nil
}

// replacedBy returns what may give etcd other files at a path than its container has, empty for nothing.
func (s *settings) replacedBy(name string) string {
	for _, at := range slices.Sorted(maps.Keys(s.replaced)) {
		if at == "/" || path.Clean(name) == at || isBelow(name, at) || isBelow(at, name) {
			return s.replaced[at]
		}
	}
	return ""
}
