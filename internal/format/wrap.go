// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package format

import (
	"strings"
	"unicode/utf8"
)

// Wrap splits a text at spaces into lines of at most columns characters. A longer word gets its
// own line. Wrap returns the text as one line if columns is 0 or less.
func Wrap(text string, columns int) []string {
	if columns <= 0 {
		return []string{text}
	}
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) <= columns:
			line += " " + word
		default:
			lines = append(lines, line)
			line = word
		}
	}
	return append(lines, line)
}

// Truncate returns at most limit bytes of a text. A text that is cut ends with "...". Truncate
// cuts between two characters: an encoder would replace half a character by a longer one.
func Truncate(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit - len("...")
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "..."
}
