// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

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
	case otherLanguages[strings.TrimRight(path.Base(argv[at]), "0123456789.")]:
		if operand := at + 1; operand < len(argv) && !strings.HasPrefix(argv[operand], "-") {
			return argv[operand]
		}
	}
	return argv[at]
}

// FilesOf returns what FileOf does, and the programs and scripts with a path that a script in the command runs.
// Programs of the system's folders do what their names show. With sourced, it also returns files that the script reads into
// itself.
func FilesOf(argv []string, sourced bool) []string {
	argv = Unfolded(argv)
	at := ProgramAt(argv)
	if at < 0 || at >= len(argv) {
		return nil
	}
	operand, command := ShellOptions(argv[at+1:])
	if operand += at + 1; !IsShell(argv[at]) || !command || operand >= len(argv) {
		if file := FileOf(argv); file != "" {
			return []string{file}
		}
		return nil
	}
	s := newScript(argv[operand], Surroundings{})
	if s.parse() != nil {
		return nil
	}
	var files []string
	for _, statement := range s.Statements {
		syntax.Walk(statement, func(node syntax.Node) bool {
			if call, is := node.(*syntax.CallExpr); is {
				if file := s.fileOf(call, sourced); path.IsAbs(file) && !unknownField(file) && !systemFolders[path.Dir(file)] {
					files = append(files, file)
				}
			}
			return true
		})
	}
	return files
}

// fileOf returns the file that a command of a script runs or reads as a script, empty for none.
func (s *Script) fileOf(call *syntax.CallExpr, sourced bool) string {
	argv := s.argv(call)
	if name := firstOf(argv); sourced && (name == "." || name == "source") && len(argv) > 1 {
		return argv[1]
	}
	return FileOf(argv)
}

// systemFolders have the programs of the system.
var systemFolders = map[string]bool{"/bin": true, "/sbin": true, "/usr/bin": true, "/usr/sbin": true}

// otherLanguages are programs that run a script of another language, without the numbers of their versions.
var otherLanguages = map[string]bool{"lua": true, "node": true, "perl": true, "php": true, "python": true, "ruby": true}
