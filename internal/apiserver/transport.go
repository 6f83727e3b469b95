// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package apiserver has what is learned from the API server's answers besides what
// they say.
package apiserver

import "net/http"

// RoundTripper is a function that sends requests, or stands before what does.
type RoundTripper func(*http.Request) (*http.Response, error)

// RoundTrip implements http.RoundTripper.
func (f RoundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
