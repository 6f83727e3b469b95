// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"slices"
)

// instant are commands beside the brief ones that aren't what a container is for if others follow them.
var instant = map[string]bool{
	"awk": true, "basename": true, "bg": true, "builtin": true, "chgrp": true, "command": true, "cut": true, "dirname": true, "getopts": true,
	"grep": true, "hash": true, "head": true, "hostname": true, "id": true, "jobs": true, "killall": true, "let": true, "ln": true,
	"logger": true, "ls": true, "mktemp": true, "pgrep": true, "pidof": true, "pkill": true, "ps": true, "pwd": true, "read": true,
	"readlink": true, "realpath": true, "rmdir": true, "sed": true, "seq": true, "shift": true, "sleep": true, "sort": true, "stat": true,
	"tail": true, "tee": true, "times": true, "tr": true, "type": true, "ulimit": true, "umask": true, "unalias": true, "uname": true, "uniq": true,
	"wc": true, "which": true, "whoami": true,
}

// instead reports whether a program is what the container is for on this way, by what is behind it. So may be a file that
// isn't read.
func (s *Script) instead(argv []string, at int, follows behind) bool {
	name := path.Base(argv[at])
	switch {
	case follows == etcdBehind:
		return false
	case argv[at] == "." || argv[at] == "source":
		return !slices.Equal(argv[at+1:], []string{"/dev/null"})
	case brief[name]:
		return false
	case follows == nothingBehind:
		return true
	case follows == failureBehind && (prepares(argv, at) || s.mayBeFunction(argv[at])):
		return false
	}
	return !instant[name] || neverEnds(argv, at)
}
