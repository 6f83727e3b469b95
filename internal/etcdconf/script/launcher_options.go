// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"regexp"
	"slices"
	"strings"
)

// option is an option as it stands in a command: its name with its dashes, and its value, which ends in the word of an index.
type option struct {
	name, value string
	word        int
}

// number is a number as an option, as nice has it.
var number = regexp.MustCompile(`^-[-+]?[0-9]`)

// has reports whether one of the options in a list of names with spaces is given, "*" for any command.
func (r launched) has(names string) bool {
	all := strings.Fields(names)
	return slices.Contains(all, "*") || slices.ContainsFunc(r.options, func(o option) bool {
		return o.name == "--help" || o.name == "--version" || slices.Contains(all, o.name)
	})
}

// readOptions reads the options from the next word on, up to the first one that the launcher doesn't have.
func (r *launched) readOptions(argv []string) {
	r.known = false
	for ; r.next < len(argv); r.next++ {
		word := argv[r.next]
		switch {
		case word == "-" && r.dash:
			r.options = append(r.options, option{name: "-"})
			continue
		case len(word) < 2 || word[0] != '-':
			r.known = true
			return
		case word == "--" && !r.bare:
			r.next++
			r.known = true
			return
		case r.numbers && number.MatchString(word):
			continue
		}
		if !r.readOption(argv) {
			return
		}
	}
	r.known = true
}

// readOption reads the options of the next word, and a value that is the word behind it. It reports whether the launcher
// has them.
func (r *launched) readOption(argv []string) bool {
	if long, is := strings.CutPrefix(argv[r.next], "--"); is {
		return r.readLong(long, argv)
	}
	letters := argv[r.next][1:]
	for i, letter := range letters {
		name, rest := "-"+string(letter), letters[i+len(string(letter)):]
		at := strings.IndexRune(r.short, letter)
		if at < 0 || letter == ':' {
			return false
		}
		switch form := r.short[at+1:]; {
		case strings.HasPrefix(form, "::"), strings.HasPrefix(form, ":") && rest != "":
			r.options = append(r.options, option{name, rest, r.next})
			return true
		case strings.HasPrefix(form, ":"):
			return r.takeNext(name, argv)
		}
		r.options = append(r.options, option{name: name})
	}
	return true
}

// takeNext takes the next word as the value of an option, and reports whether there is one.
func (r *launched) takeNext(name string, argv []string) bool {
	if r.next+1 >= len(argv) {
		return false
	}
	r.next++
	r.options = append(r.options, option{name, argv[r.next], r.next})
	return true
}

// readLong reads a long option without its dashes, and reports whether the launcher has it. Its name may be cut where it
// is the only one that begins so.
func (r *launched) readLong(text string, argv []string) bool {
	name, value, has := strings.Cut(text, "=")
	var found []string
	for known := range strings.FieldsSeq(r.long + " help version") {
		full := strings.TrimRight(known, ":")
		if full == name {
			found = []string{known}
			break
		}
		if strings.HasPrefix(full, name) {
			found = append(found, known)
		}
	}
	if len(found) != 1 || r.bare {
		return false
	}
	full := strings.TrimRight(found[0], ":")
	colons := len(found[0]) - len(full)
	switch {
	case has && colons == 0:
		return false
	case !has && colons == 1:
		return r.takeNext("--"+full, argv)
	}
	r.options = append(r.options, option{"--" + full, value, r.next})
	return true
}

// given returns the last of some options, false if none of them is given.
func (r launched) given(names ...string) (option, bool) {
	for _, o := range slices.Backward(r.options) {
		if slices.Contains(names, o.name) {
			return o, true
		}
	}
	return option{}, false
}
