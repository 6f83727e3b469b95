// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"net/http"
	"regexp"
	"time"
)

// transient is what programs say where a machine has too much to do, or a user is
// just being elected.
var transient = regexp.MustCompile(`no answer (with)?in|was cut|no(body| member)? leads|(follows|knows|has) no leader|no member says that it leads|` +
	`TLS handshake timeout|i/o timeout|connection (refused|reset|lost)|was refused|\bEOF\b|deadline exceeded|` +
	`etcdserver: (leader changed|no leader|request timed out|too many requests)|not renewed for|last renewed|another may have been elected|error dialing backend`)

// Transient reports whether a program that failed with these words may be run again and
// then work, though nothing else changes.
func Transient(printed string) bool { return transient.MatchString(printed) }

// A request that failed because no one was reached is sent again, so often and after
// such a pause: an API server is back from a restart by then.
const (
	sendings  = 20
	sendAgain = time.Second
)

// persistent sends requests again that never reached the API server, or that may be
// sent twice without harm.
type persistent struct{ next http.RoundTripper }

// Persistently has requests of a rest.Config sent again that can be, for its Wrap.
func Persistently(next http.RoundTripper) http.RoundTripper { return persistent{next} }

// connecting is what fails before a request is sent.
var connecting = regexp.MustCompile(`connection refused|TLS handshake timeout|no route to host`)

func (p persistent) RoundTrip(r *http.Request) (*http.Response, error) {
	for sent := 1; ; sent++ {
		response, err := p.next.RoundTrip(r)
		again := err != nil && (connecting.MatchString(err.Error()) || repeatable(r.Method) && Transient(err.Error()))
		if !again || sent == sendings || r.Body != nil && r.GetBody == nil {
			return response, err
		}
		select {
		case <-r.Context().Done():
			return response, err
		case <-time.After(sendAgain):
		}
		if r.GetBody != nil {
			body, failed := r.GetBody()
			if failed != nil {
				return response, err
			}
			r = r.Clone(r.Context())
			r.Body = body
		}
	}
}

// repeatable reports whether a request may be sent twice: a patch of ours says the same
// then, and a second deletion finds nothing.
func repeatable(method string) bool {
	return method == http.MethodGet || method == http.MethodPatch || method == http.MethodDelete
}
