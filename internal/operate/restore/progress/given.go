// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"net/url"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
)

// From returns what a journal has of where the snapshot is, as the rest of a clause, empty for unknown.
func (rec *Record) From() string {
	if rec.File == "" {
		return ""
	}
	return ", from " + format.Quote(format.PrintableLine(rec.File))
}

// GivenName returns the path or the URL of a snapshot as a journal may contain it, which many users can read. A URL
// loses its credentials, parameters and fragment, and parameters reports whether it had any. One that can't be parsed
// is unknown.
func GivenName(given string) (name string, parameters bool) {
	scheme, _, found := strings.Cut(given, "://")
	if !found || scheme == "" || strings.ContainsAny(scheme, `/\.`) { // a file
		return given, false
	}
	u, err := url.Parse(given)
	if err != nil {
		return "", false
	}
	parameters = u.RawQuery != "" || u.ForceQuery
	u.User, u.RawQuery, u.ForceQuery, u.Fragment, u.RawFragment = nil, "", false, "", ""
	return u.String(), parameters
}
