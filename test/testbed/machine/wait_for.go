// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package machine

import (
	"crypto/tls"
	"net/http"
	"os"
	"strings"
	"time"
)

// haveAll reports whether everything is there that a Process waits for.
func haveAll(what []string) bool {
	for _, w := range what {
		if strings.HasPrefix(w, "https://") {
			if !answers(w) {
				return false
			}
		} else if _, err := os.Stat(w); err != nil {
			return false
		}
	}
	return true
}

func answers(url string) bool {
	client := http.Client{Timeout: time.Second, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true}, //nolint:gosec // nothing is sent, and only the status is read
	}}
	resp, err := client.Get(url)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}
