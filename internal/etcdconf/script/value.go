// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package script

import (
	"slices"
	"strings"
)

// piece is a part of a text: as it is known, or as it is written where only a shell in the pod can expand it. It
// splits into fields if it comes from a variable outside of quotes, and breaks if another field begins behind it.
type piece struct {
	text                  string
	known, splits, breaks bool
}

// Value is a text that a variable may hold, or a field of a command.
type Value []piece

func textOf(text string) Value { return Value{{text: text, known: true}} }

func (v Value) length() int {
	n := 1
	for _, p := range v {
		n += len(p.text)
	}
	return n
}

// Written returns a text with what isn't known as it is written.
func (v Value) Written() string {
	var out strings.Builder
	for _, p := range v {
		out.WriteString(p.text)
	}
	return out.String()
}

// beginning returns a text up to what isn't known, with UnknownWord behind it.
func (v Value) beginning() string {
	var out strings.Builder
	for _, p := range v {
		if !p.known {
			return out.String() + UnknownWord
		}
		out.WriteString(p.text)
	}
	return out.String()
}

// known returns a text with UnknownWord in place of what isn't known.
func (v Value) known() string {
	var out strings.Builder
	for _, p := range v {
		if p.known {
			out.WriteString(p.text)
		} else {
			out.WriteString(UnknownWord)
		}
	}
	return out.String()
}

// Opaque reports whether nothing of a text is known.
func (v Value) Opaque() bool {
	return len(v) > 0 && !slices.ContainsFunc(v, func(p piece) bool {
		return p.known && p.text != "" || !p.known && isParameter(p.text)
	})
}

// isParameter reports whether a text is a parameter such as $1: what a script or a function is called with is
// inspected there.
func isParameter(text string) bool {
	text = strings.TrimPrefix(strings.TrimPrefix(text, "$"), "{")
	return text != "" && strings.Contains("0123456789@*#?!-", text[:1])
}

// Splits reports whether all of a text comes from variables outside of quotes.
func (v Value) Splits() bool {
	return !slices.ContainsFunc(v, func(p piece) bool { return !p.splits })
}

// protected and unprotected return the texts of a variable as they are in quotes, and without.
func protected(texts []Value) []Value { return withSplits(texts, false) }

func unprotected(texts []Value) []Value { return withSplits(texts, true) }

func withSplits(texts []Value, splits bool) []Value {
	out := make([]Value, len(texts))
	for i, text := range texts {
		out[i] = slices.Clone(text)
		for j := range out[i] {
			out[i][j].splits = splits
		}
	}
	return out
}

// split returns the fields that a word may be, by its text.
func (v Value) split() (all []Value) {
	var field Value
	open := false
	end := func() {
		if open {
			all = append(all, field)
		}
		field, open = nil, false
	}
	for _, p := range v {
		switch {
		case p.breaks:
			end()
		case !p.known || !p.splits:
			field, open = append(field, p), true
		default:
			rest := p.text
			for {
				at := strings.IndexAny(rest, separators)
				if part := rest[:max(at, 0)]; at < 0 && rest != "" || part != "" {
					if at < 0 {
						part = rest
					}
					field, open = append(field, piece{text: part, known: true}), true
				}
				if at < 0 {
					break
				}
				end()
				rest = rest[at+1:]
			}
		}
	}
	end()
	return all
}
