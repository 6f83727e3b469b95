// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import "slices"

// foldedShell returns the shell that su, runuser or flock starts for a script in their arguments. What a login passes on of the
// environment is not known.
func foldedShell(all Fields, r launched, at int) (f fold, found bool) {
	f = fold{from: at, to: len(all.Argv)}
	if r.name == "flock" {
		return f, f.lockedShell(all, r)
	}
	operands, known := r.permute(all.Argv, at)
	script, has := r.given("-c", "--command", "--session-command")
	shell, other := r.given("-s", "--shell")
	text := script.value
	if has && text == all.Argv[script.word] {
		text = all.Texts[script.word]
	}
	switch {
	case !known || !has || r.has("-V -h -u --user") || other && !IsShell(shell.value):
		return f, false
	case unknownField(text): // a part of a word
		return f, false
	case r.has("-l --login -"):
		f.argv = []string{loginShell}
	}
	f.argv = append(f.argv, "sh", "-c")
	f.texts = append(slices.Clone(f.argv), text)
	f.argv = append(f.argv, script.value)
	for _, i := range operands[min(1, len(operands)):] { // the first one is the user
		f.argv, f.texts = append(f.argv, all.Argv[i]), append(f.texts, all.Texts[i])
	}
	return f, true
}

// lockedShell reads the shell that flock starts, and reports whether it starts one.
func (f *fold) lockedShell(all Fields, r launched) bool {
	if !r.known || len(all.Argv) != r.next+2 || all.Argv[r.next] != "-c" && all.Argv[r.next] != "--command" {
		return false
	}
	f.argv, f.texts = []string{"sh", "-c", all.Argv[r.next+1]}, []string{"sh", "-c", all.Texts[r.next+1]}
	return true
}

// permute reads options that may stand among the operands, and returns the indexes of the operands. known is false for an
// option that the launcher doesn't have.
func (r *launched) permute(argv []string, at int) (operands []int, known bool) {
	r.options, r.next = nil, at+1
	for r.next < len(argv) {
		r.readOptions(argv)
		if !r.known {
			return nil, false
		}
		for last := argv[r.next-1] == "--"; r.next < len(argv); r.next++ {
			operands = append(operands, r.next)
			if !last {
				r.next++
				break
			}
		}
	}
	return operands, true
}
