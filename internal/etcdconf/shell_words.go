// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strconv"
	"strings"
)

// reader cuts a command's text into words.
type reader struct {
	shell *shell
	text  string
	ended bool

	done  []string // words that are complete, of one text: an expansion can make several
	now   strings.Builder
	begun bool
}

// word reads the next word, or the several that an unquoted variable makes.
// more is false behind the last of the command.
func (r *reader) word() (words []string, some, more bool) {
	r.done, r.begun = nil, false
	r.now.Reset()
	r.text = strings.TrimLeft(r.text, " \t")
	more = r.rest()
	if r.begun {
		r.done = append(r.done, r.now.String())
	}
	return r.done, len(r.done) > 0, more
}

// rest reads to the end of the word, which may be the command's.
func (r *reader) rest() (more bool) {
	for r.text != "" {
		c := r.text[0]
		switch {
		case strings.HasPrefix(r.text, "\\\n"):
			r.text = r.text[2:]
			if !r.begun {
				return true
			}
		case c == ' ' || c == '\t':
			return true
		case c == '#' && !r.begun:
			_, after, _ := strings.Cut(r.text, "\n")
			r.text, r.ended = after, true
			return false
		case strings.IndexByte(";&|\n()", c) >= 0:
			r.text, r.ended = r.text[1:], true
			return false
		case c == '<' || c == '>':
			r.redirection()
			return true
		default:
			r.part()
		}
	}
	return false
}

// part reads what belongs to a word: something quoted or expanded, or a byte that
// stands for itself.
func (r *reader) part() {
	switch r.text[0] {
	case '\'':
		r.single()
	case '"':
		r.double()
	case '\\':
		r.escaped()
	case '$', '`':
		r.split(r.expansion())
	default:
		r.take(1)
	}
}

// take moves n bytes of the text to the word.
func (r *reader) take(n int) {
	r.begun = true
	r.now.WriteString(r.text[:n])
	r.text = r.text[n:]
}

func (r *reader) escaped() {
	r.begun = true
	r.text = r.text[1:]
	if r.text != "" {
		r.take(1)
	}
}

func (r *reader) single() {
	r.begun = true
	inside, after, _ := strings.Cut(r.text[1:], "'")
	r.now.WriteString(inside)
	r.text = after
}

func (r *reader) double() {
	r.begun = true
	r.text = r.text[1:]
	for r.text != "" {
		switch c := r.text[0]; {
		case c == '"':
			r.text = r.text[1:]
			return
		case strings.HasPrefix(r.text, "\\\n"):
			r.text = r.text[2:]
		case c == '\\' && len(r.text) > 1 && strings.IndexByte("\"\\$`", r.text[1]) >= 0:
			r.escaped()
		case strings.HasPrefix(r.text, "$@"):
			r.text = r.text[2:]
			r.fields(r.shell.arguments())
		case c == '$' || c == '`':
			value, _ := r.expansion()
			r.now.WriteString(value)
		default:
			r.take(1)
		}
	}
}

// redirection drops a file descriptor, the operator and its target.
func (r *reader) redirection() {
	if _, err := strconv.Atoi(r.now.String()); err == nil {
		r.now.Reset()
		r.begun = false
	}
	r.text = strings.TrimLeft(r.text, "<>&| \t")
	r.text = r.text[min(len(r.text), wordLength(r.text)):]
}

func wordLength(text string) int {
	if at := strings.IndexAny(text, " \t\n;&|()"); at >= 0 {
		return at
	}
	return len(text)
}

// split adds what an unquoted expansion gave, which may be several words; not so
// behind NAME=, and not where it isn't known.
func (r *reader) split(value string, known bool) {
	if name, _, assigns := strings.Cut(r.now.String(), "="); !known || assigns && isName(name) {
		r.begun = true
		r.now.WriteString(value)
		return
	}
	if strings.TrimLeft(value, " \t\n") != value && r.begun {
		r.next()
	}
	r.fields(strings.Fields(value))
	if strings.TrimRight(value, " \t\n") != value && r.begun {
		r.next()
	}
}

// fields joins the first to the word and begins a new one with each other.
func (r *reader) fields(values []string) {
	for i, v := range values {
		if i > 0 {
			r.next()
		}
		r.begun = true
		r.now.WriteString(v)
	}
}

func (r *reader) next() {
	r.done = append(r.done, r.now.String())
	r.now.Reset()
	r.begun = false
}
