// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"net/http"
	"regexp"
	"time"
)

// transient matches the messages of programs on an overloaded machine, or during an election.
var transient = regexp.MustCompile(`no answer (with)?in|was cut|no(body| member)? leads|(follows|knows|has) no leader|no member (\w+ that it leads|is the leader)|` +
	`TLS handshake timeout|i/o timeout|connection (refused|reset|lost)|was refused|\bEOF\b|deadline exceeded|` +
	`etcdserver: (leader changed|no leader|request timed out|too many requests)|not renewed for|last renewed|another may have been elected|error dialing backend`)

// Transient reports whether a program that failed with this output may succeed when it runs
// again without any other change.
func Transient(printed string) bool { return transient.MatchString(printed) }

// A request that reached no server is sent again, this often and after such a pause. An API
// server restarts within this time.
const (
	sendings  = 20
	sendAgain = time.Second
)

// persistent sends a request again if it never reached the API server, or if a repetition is
// harmless.
type persistent struct{ next http.RoundTripper }

// Persistently returns a transport for a rest.Config's Wrap that sends failed requests again.
func Persistently(next http.RoundTripper) http.RoundTripper { return persistent{next} }

// connecting matches errors that occur before a request is sent.
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

// repeatable reports whether a request may be sent twice. A second patch of ours has the same
// effect, and a second deletion finds no object.
func repeatable(method string) bool {
	return method == http.MethodGet || method == http.MethodPatch || method == http.MethodDelete
}
