// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import "strings"

// shell reads as much of a script as tells how it starts etcd: words, quotes,
// assignments and the plain forms of variables. It runs nothing: what only a
// command in the pod could tell stays in the word as it is written.
type shell struct {
	// env is the container's environment, nil for none.
	env func(name string) (string, bool)
	// hostname is what the command of that name prints.
	hostname string
	// positional are $0 and following.
	positional []string

	vars     map[string]string
	exported map[string]bool
}

// assign follows the assignments in a script's text. Those of its last,
// unfinished command are for the program that the text ends at.
func (s *shell) assign(text string) {
	depth := 0 // of if, for and the like
	for text != "" {
		words, rest, ended := s.command(text)
		export := !ended
		for _, w := range words {
			depth += nesting[w]
			if w == "export" {
				export = true
			} else if name, value, ok := strings.Cut(w, "="); ok && isName(name) {
				s.set(name, value, depth > 0)
				s.exported[name] = s.exported[name] || export
			} else if export && isName(w) {
				s.exported[w] = true
			} else if !prefixes[w] {
				break // the command, and its arguments
			}
		}
		text = rest
	}
}

// set assigns a variable. Where the script may or may not come by, what it is
// then can't be told: it stands for itself.
func (s *shell) set(name, value string, perhaps bool) {
	if before, ok := s.variable(name); perhaps && ok && before != value {
		value = "${" + name + "}"
	}
	s.vars[name] = value
}

var (
	// prefixes are the words that a command with assignments can come behind.
	prefixes = map[string]bool{
		"if": true, "then": true, "elif": true, "else": true, "fi": true, "while": true, "until": true, "do": true,
		"done": true, "exec": true, "{": true, "}": true, "local": true, "readonly": true, "declare": true,
	}
	nesting = map[string]int{"if": 1, "fi": -1, "while": 1, "until": 1, "for": 1, "done": -1, "case": 1, "esac": -1}
)

// environ is a variable of the environment that the script gives to etcd.
func (s *shell) environ(name string) (string, bool) {
	if v, ok := s.vars[name]; ok {
		if _, inherited := s.inherited(name); inherited || s.exported[name] {
			return v, true
		}
	}
	return s.inherited(name)
}

func (s *shell) inherited(name string) (string, bool) {
	if s.env == nil {
		return "", false
	}
	return s.env(name)
}

func (s *shell) variable(name string) (string, bool) {
	if v, ok := s.vars[name]; ok {
		return v, true
	}
	if v, ok := s.inherited(name); ok || name != "HOSTNAME" {
		return v, ok
	}
	return s.hostname, true
}

// command reads the words up to the end of the command that the text begins
// with. ended is false where the text ends first.
func (s *shell) command(text string) (words []string, rest string, ended bool) {
	r := reader{shell: s, text: text}
	for {
		word, some, more := r.word()
		if some {
			words = append(words, word...)
		}
		if !more {
			return words, r.text, r.ended
		}
	}
}

// arguments are what "$@" stands for.
func (s *shell) arguments() []string { return s.positional[min(1, len(s.positional)):] }

func isName(s string) bool {
	for i, c := range s {
		if c != '_' && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return s != ""
}
