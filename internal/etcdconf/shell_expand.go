// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"path"
	"strconv"
	"strings"
)

// expansion reads the expansion that the text begins with, and gives its value:
// of a variable, or of the command hostname. What can't be told is given as it
// is written.
func (r *reader) expansion() (value string, known bool) {
	written := r.expansionText()
	if written == "" || written == "$" { // no expansion, or one that never ends
		value, r.text = r.text[:1], r.text[1:]
		return value, false
	}
	r.text = r.text[len(written):]
	if value, known = r.shell.value(written); known {
		return value, true
	}
	return written, false
}

// expansionText is how much of the text the expansion takes, "" where its end
// is missing.
func (r *reader) expansionText() string {
	switch {
	case r.text[0] == '`':
		end := strings.IndexByte(r.text[1:], '`')
		return r.text[:end+2*min(1, end+1)]
	case strings.HasPrefix(r.text, "$("):
		return r.text[:closing(r.text, '(', ')')]
	case strings.HasPrefix(r.text, "${"):
		return r.text[:closing(r.text, '{', '}')]
	}
	n := 1
	for n < len(r.text) && isName(r.text[1:n+1]) {
		n++
	}
	if n == 1 && len(r.text) > 1 && strings.IndexByte("0123456789@*", r.text[1]) >= 0 {
		n = 2
	}
	return r.text[:n]
}

// closing is the length up to and with the bracket that closes the first, 0
// where it is missing.
func closing(text string, open, end byte) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

func (s *shell) value(written string) (string, bool) {
	if inner, ok := cutBoth(written, "$(", ")"); ok {
		return s.output(inner)
	}
	if inner, ok := cutBoth(written, "`", "`"); ok {
		return s.output(inner)
	}
	if inner, ok := cutBoth(written, "${", "}"); ok {
		return s.parameter(inner)
	}
	name := written[1:]
	switch at, err := strconv.Atoi(name); {
	case name == "@" || name == "*":
		return strings.Join(s.arguments(), " "), true
	case err == nil && at < len(s.positional):
		return s.positional[at], true
	}
	return s.variable(name)
}

// output is what the commands print that tell the pod's own name.
func (s *shell) output(command string) (string, bool) {
	switch strings.Join(strings.Fields(command), " ") {
	case "hostname", "hostname -s", "uname -n":
		return s.hostname, true
	}
	return "", false
}

// parameter is the value of ${inner}: a name, with a default or with a pattern
// cut off at an end.
func (s *shell) parameter(inner string) (string, bool) {
	n := 0
	for n < len(inner) && isName(inner[:n+1]) {
		n++
	}
	value, ok := s.variable(inner[:n])
	operator := inner[n:]
	for _, form := range []string{":-", "-", "##", "#", "%%", "%"} {
		word, found := strings.CutPrefix(operator, form)
		if !found {
			continue
		}
		switch {
		case !strings.HasSuffix(form, "-"):
			return cutPattern(value, form, word), ok
		case ok && (value != "" || form == "-"):
			return value, true
		}
		return strings.Trim(word, `"'`), !strings.ContainsAny(word, "$`")
	}
	return value, ok && operator == ""
}

// cutPattern takes the shortest or longest match of a pattern off the front
// (# and ##) or the end (% and %%).
func cutPattern(value, form, pattern string) string {
	front, longest := form[0] == '#', len(form) == 2
	plain := strings.NewReplacer("/", "|") // to a shell's * here a slash is like any other
	for i := range len(value) + 1 {
		at := i
		if front == longest {
			at = len(value) - i
		}
		off, kept := value[:at], value[at:]
		if !front {
			off, kept = kept, off
		}
		if matched, err := path.Match(plain.Replace(pattern), plain.Replace(off)); err == nil && matched {
			return kept
		}
	}
	return value
}

func cutBoth(s, before, after string) (string, bool) {
	s, ok := strings.CutPrefix(s, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(s, after)
}
