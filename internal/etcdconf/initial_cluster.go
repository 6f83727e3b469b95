// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strings"
	"unicode"
)

// InitialPeers returns the entries of the initial cluster. Without one it is etcd's default: the
// member alone. It leaves out a text that only the pod replaces by entries.
func (c Config) InitialPeers() []Peer {
	var peers []Peer
	for _, e := range entriesOf(c.InitialCluster) {
		if e.named {
			peers = append(peers, e.Peer)
		}
	}
	return peers
}

// entry is a part of an initial cluster. One that is not named has only its text, such as $(cat /peers).
type entry struct {
	Peer
	text  string
	named bool
}

// entriesOf returns the parts of an initial cluster.
func entriesOf(list string) []entry {
	var out []entry
	at := 0
	for part := range strings.SplitSeq(withoutPrograms(list), ",") {
		e := entry{text: strings.TrimSpace(list[at : at+len(part)])}
		if i := strings.IndexByte(strings.TrimLeftFunc(part, unicode.IsSpace), '='); i >= 0 {
			e.Peer, e.named = Peer{Name: e.text[:i], URL: e.text[i+1:]}, true
		}
		out, at = append(out, e), at+len(part)+1
	}
	return out
}

// withoutPrograms returns a text of the same length with x for what is inside of $( ), ${ } and ` `: a comma or an
// equals sign in a command separates nothing. A text that was cut may lack the end of it.
func withoutPrograms(text string) string {
	out := []byte(text)
	var ends []byte
	for i, c := range out {
		inside := len(ends) > 0
		switch {
		case inside && c == ends[len(ends)-1]:
			ends = ends[:len(ends)-1]
		case c == '`':
			ends = append(ends, '`')
		case c == '(' && (inside || i > 0 && text[i-1] == '$'):
			ends = append(ends, ')')
		case c == '{' && i > 0 && text[i-1] == '$':
			ends = append(ends, '}')
		}
		if inside {
			out[i] = 'x'
		}
	}
	return string(out)
}
