// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberhealth

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
)

// asks follows no redirects and keeps no connections: the other side is any pod of a tenant.
var asks = &http.Client{
	Transport:     &http.Transport{DisableKeepAlives: true, Proxy: nil, MaxResponseHeaderBytes: 4 << 10},
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

// reply is what a member replies to one question.
type reply int

const (
	// silent is no reply of etcd's: none at all, or that of another program.
	silent reply = iota
	// unhealthy is etcd's reply that it has no quorum.
	unhealthy
	healthy
)

// health asks etcd whether it has a quorum. A full database is no reason to count the member as missing.
func health(ctx context.Context, host, port string) reply {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, port)+"/health?exclude=NOSPACE", nil)
	if err != nil {
		return silent
	}
	answer, err := asks.Do(request)
	if err != nil {
		return silent
	}
	defer answer.Body.Close()
	text, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10)) // without it, the status has the answer
	switch {
	case answer.StatusCode == http.StatusOK:
		return healthy
	case answer.StatusCode == http.StatusServiceUnavailable && showsUnhealthy(text):
		return unhealthy
	}
	return silent
}

// showsUnhealthy reports whether a text is etcd's that it is not healthy. A proxy answers with the same status.
func showsUnhealthy(text []byte) bool {
	var body struct {
		Health string `json:"health"`
	}
	return json.Unmarshal(text, &body) == nil && body.Health == "false"
}
