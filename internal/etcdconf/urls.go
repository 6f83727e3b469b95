// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

// splitURLs returns the URLs of a list. A part that only the pod can expand, such as $(hostname -i), has no end of a URL in
// it.
func splitURLs(text string) []string {
	urls := []string{}
	depth, quoted, from := 0, false, 0
	end := func(at int) {
		if at > from {
			urls = append(urls, text[from:at])
		}
		from = at + 1
	}
	for i := range len(text) {
		switch c := text[i]; c {
		case '`':
			quoted = !quoted
		case '(', '{':
			if depth > 0 || i > 0 && text[i-1] == '$' {
				depth++
			}
		case ')', '}':
			depth = max(0, depth-1)
		case ',', ' ':
			if depth == 0 && !quoted {
				end(i)
			}
		}
	}
	end(len(text))
	return urls
}
