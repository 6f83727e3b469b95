// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import "path"

// tools are programs that do what their name shows, in every image.
var tools = map[string]bool{
	"[": true, "awk": true, "cat": true, "chmod": true, "chown": true, "cp": true, "curl": true, "date": true, "echo": true,
	"etcd": true, "etcdctl": true, "etcdutl": true, "false": true, "find": true, "grep": true, "hostname": true, "kill": true,
	"killall": true, "ln": true, "logger": true, "ls": true, "mkdir": true, "mv": true, "nc": true, "pgrep": true, "pidof": true,
	"pkill": true, "printf": true, "ps": true, "rm": true, "sed": true, "sleep": true, "sync": true, "tail": true, "test": true,
	"touch": true, "true": true, "wget": true,
}

// IsTool reports whether a program is a shell or a tool of which the name shows what it does. Any other program may be a
// script of the image.
func IsTool(program string) bool { return IsShell(program) || tools[path.Base(program)] }

// FileOf returns the program or the script that a command runs, empty for a tool and for a script that the command itself
// has.
func FileOf(argv []string) string {
	argv = Unfolded(argv)
	at := ProgramAt(argv)
	switch {
	case at < 0 || at >= len(argv):
		return ""
	case IsShell(argv[at]):
		operand, command := ShellOptions(argv[at+1:])
		if operand += at + 1; command || operand >= len(argv) {
			return ""
		}
		return argv[operand]
	case IsTool(argv[at]):
		return ""
	}
	return argv[at]
}
