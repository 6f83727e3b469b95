// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strings"
)

// mostUnfolded is how many texts are unfolded in a command.
const mostUnfolded = 8

// unfolded returns a command in which the fields of the text of env -S stand in its place, and a shell in place of su and
// flock with a script. Behind what env does more to its text than split it at spaces and remove quotes, it isn't known.
func (all Fields) unfolded() Fields {
	for range mostUnfolded {
		f, found := findFold(all)
		if !found {
			break
		}
		all.Argv = slices.Replace(slices.Clone(all.Argv), f.from, f.to, f.argv...)
		all.Texts = slices.Replace(slices.Clone(all.Texts), f.from, f.to, f.texts...)
		if all.args != nil {
			all.args = slices.Replace(slices.Clone(all.args), f.from, f.to, slices.Repeat([]int{all.args[f.to-1]}, len(f.argv))...)
		}
		all.split = true
	}
	return all
}

// Unfolded returns arguments in which the fields of the text of env -S stand in its place, and a shell in place of su and
// flock with a script.
func Unfolded(argv []string) []string {
	return Fields{Argv: argv, Texts: argv}.unfolded().Argv
}

// fold is what replaces the fields [from, to) of a command.
type fold struct {
	from, to    int
	argv, texts []string
}

// findFold finds the first text among the launchers of a command that is a command itself.
func findFold(all Fields) (f fold, found bool) {
	at := 0
	for at < len(all.Argv) {
		r, is := launchedAt(all.Argv, at)
		if !is {
			break
		}
		switch r.name {
		case "env":
			if from, to, text, found := splitString(all.Argv, at+1, min(r.next, len(all.Argv))); found {
				f = fold{from: from, to: to}
				f.argv, f.texts = splitAsEnv(text)
				return f, true
			}
		case "su", "runuser", "flock":
			if f, found := foldedShell(all, r, at); found {
				return f, true
			}
		}
		if !r.known {
			break
		}
		at = r.next
	}
	return fold{}, false
}

// splitString finds the first text that env splits among its options. It is in the fields [from, to).
func splitString(argv []string, at, end int) (from, to int, text string, found bool) {
	for i := at; i < end; i++ {
		long, isLong := strings.CutPrefix(argv[i], "--split-string=")
		before, short, isShort := strings.Cut(argv[i], "S")
		switch {
		case isLong:
			return i, i + 1, long, true
		case argv[i] == "--split-string", isShort && short == "" && isFlags(before):
			return i, min(i+2, len(argv)), firstOf(argv[min(i+1, len(argv)):]), i+1 < len(argv)
		case isShort && isFlags(before):
			return i, i + 1, short, true
		}
	}
	return 0, 0, "", false
}

// isFlags reports whether a word is a dash with the letters of options of env without a value.
func isFlags(word string) bool {
	letters, is := strings.CutPrefix(word, "-")
	return is && strings.Trim(letters, "iv0") == ""
}

// splitAsEnv splits a text at spaces outside of quotes. What is behind a backslash, a variable or a comment is the last
// field, and isn't known.
//
//nolint:gocyclo // one case a kind of character
func splitAsEnv(text string) (argv, texts []string) {
	var word strings.Builder
	open, quote := false, byte(0)
	for i := range len(text) {
		c := text[i]
		switch {
		case c == '\\' || c == '$' || c == UnknownWord[0] || c == '#' && !open:
			written := strings.ReplaceAll(text[i:], UnknownWord, "?")
			texts = slices.Concat(argv, []string{"$(" + word.String() + written + ")"})
			return append(argv, word.String()+UnknownWord), texts
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, open = c, true
		case quote == 0 && strings.IndexByte(" \t\n\v\f\r", c) >= 0:
			if open {
				argv = append(argv, word.String())
				word.Reset()
			}
			open = false
		default:
			word.WriteByte(c)
			open = true
		}
	}
	if open {
		argv = append(argv, word.String())
	}
	return argv, slices.Clone(argv)
}
