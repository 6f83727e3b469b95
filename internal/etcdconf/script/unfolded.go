// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"path"
	"slices"
	"strings"
)

// mostSplit is how many texts of env -S are split in a command.
const mostSplit = 8

// withoutSplitString returns a command in which the fields of the text of env -S stand in its place. Behind what
// env does more to it than split it at spaces and remove quotes, it isn't known.
func (all Fields) withoutSplitString() Fields {
	for range mostSplit {
		from, to, text, found := splitString(all.Argv)
		if !found {
			break
		}
		argv, texts := splitAsEnv(text)
		all.Argv = slices.Replace(slices.Clone(all.Argv), from, to, argv...)
		all.Texts = slices.Replace(slices.Clone(all.Texts), from, to, texts...)
		if all.args != nil {
			all.args = slices.Replace(slices.Clone(all.args), from, to, slices.Repeat([]int{all.args[to-1]}, len(argv))...)
		}
		all.split = true
	}
	return all
}

// WithoutSplitString returns arguments in which the fields of the text of env -S stand in its place.
func WithoutSplitString(argv []string) []string {
	return Fields{Argv: argv, Texts: argv}.withoutSplitString().Argv
}

// splitString finds the first text that env splits, among the launchers of a command. It is in the fields [from, to).
func splitString(argv []string) (from, to int, text string, found bool) {
	at := 0
	for at < len(argv) {
		l, is := launchers[path.Base(argv[at])]
		if !is {
			break
		}
		next := min(l.skip(argv, at+1), len(argv))
		for i := at + 1; path.Base(argv[at]) == "env" && i < next; i++ {
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
		at = next + l.operands
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
