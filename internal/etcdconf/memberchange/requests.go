// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberchange

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// requesters are programs that send requests by HTTP.
var requesters = map[string]bool{"curl": true, "wget": true}

// memberPath finds a request of etcd's gateway that may change members, and memberPathOfTwo one of its API of version 2,
// whose method decides.
var (
	memberPath      = regexp.MustCompile(`/v3\w*/cluster/member/(add|remove|update|promote)\b`)
	memberPathOfTwo = regexp.MustCompile(`/v2/members(?:/|\b)`)
)

// request notes the change of members that a request by HTTP makes.
func (w *walk) request(in scope, c script.Fields) {
	if !in.requests(c.Argv) {
		return
	}
	for _, word := range c.Texts {
		if m := memberPath.FindStringSubmatch(word); m != nil {
			w.noteRequest(m[1], false)
		} else if memberPathOfTwo.MatchString(word) {
			verb, known := verbOfMethod(c.Texts)
			if verb != "" || !known {
				w.noteRequest(verb, !known)
			}
		}
	}
}

func (w *walk) noteRequest(verb string, unclear bool) {
	if unclear {
		w.note(Change{Verb: "remove", Unclear: true})
		return
	}
	w.note(Change{Verb: verb, Perhaps: w.atStop && verb == "remove" && w.perhaps()})
}

// requests reports whether a command sends a request: its program does, a program that it runs, or one that isn't known.
func (in scope) requests(argv []string) bool {
	program := path.Base(argv[0])
	if _, is := in.functions[program]; is || strings.Contains(argv[0], script.UnknownWord) {
		return true
	}
	return requesters[program] || runners[program] && slices.ContainsFunc(argv, func(word string) bool { return requesters[path.Base(word)] })
}

// verbOfMethod returns what a request for members does by its method, empty for a request that reads. known is false for a
// method that only the pod knows.
//
//nolint:gocyclo // one case a way to give the method
func verbOfMethod(args []string) (verb string, known bool) {
	method := ""
	for i, word := range args {
		value, isShort := strings.CutPrefix(word, "-X")
		flag, after, assigned := strings.Cut(word, "=")
		named := flag == "--request" || flag == "--method"
		switch {
		case named && assigned:
			method = after
		case (named || word == "-X") && i+1 < len(args):
			method = args[i+1]
		case isShort && value != "":
			method = value
		case method == "" && (strings.HasPrefix(word, "-d") || strings.HasPrefix(flag, "--data") || strings.HasPrefix(flag, "--post-") || flag == "--json"):
			method = "POST"
		}
	}
	if strings.ContainsAny(method, "$`") {
		return "", false
	}
	return map[string]string{"POST": "add", "PUT": "update", "DELETE": "remove"}[strings.ToUpper(method)], true
}
