// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package blobtest has servers of S3, Google Cloud Storage and Azure in memory, for tests of what is stored and of
// what happens when the store is at fault. Only tests import it.
package blobtest

import (
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// modified is when all objects were written.
var modified = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// S3 is the part of the S3 API that a store uses, with the bucket "backups" in the path. It is not AWS:
// it knows no checksums of parts.
type S3 struct {
	// Get answers requests for the content of an object. Nil returns what is stored.
	Get func(http.ResponseWriter)
	// NoConditions answers conditional writes as stores do that don't know them.
	NoConditions bool

	mu      sync.Mutex
	objects map[string][]byte
}

// URL starts the server and returns the URL of an empty folder. It sets the credentials in the
// environment, so the test can't be parallel.
func (s *S3) URL(t *testing.T) string {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "key")
	s.objects = map[string][]byte{}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return "s3://backups/team/?endpoint=" + server.URL
}

// Keys returns the keys of all objects, sorted.
func (s *S3) Keys() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// ServeHTTP implements http.Handler.
func (s *S3) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, inBucket := strings.CutPrefix(strings.TrimSuffix(r.URL.Path, "/"), "/backups")
	if !inBucket || r.Header.Get("Authorization") == "" {
		Fail(w, http.StatusForbidden, "AccessDenied")
		return
	}
	key = strings.TrimPrefix(key, "/")
	content, found := s.objects[key]
	switch {
	case key == "":
		s.list(w, r)
	case r.Method == http.MethodPut:
		s.put(w, r, key, found)
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	case !found:
		Fail(w, http.StatusNotFound, "NoSuchKey")
	case r.Method == http.MethodGet && s.Get != nil:
		s.Get(w)
	default:
		w.Header().Set("Last-Modified", modified.Format(http.TimeFormat))
		w.Header().Set("Content-Length", strconv.Itoa(len(content)))
		_, _ = w.Write(content)
	}
}

func (s *S3) put(w http.ResponseWriter, r *http.Request, key string, found bool) {
	body, err := io.ReadAll(r.Body)
	conditional := r.Header.Get("If-None-Match") == "*"
	switch {
	case conditional && s.NoConditions:
		Fail(w, http.StatusNotImplemented, "NotImplemented")
	case conditional && found:
		Fail(w, http.StatusPreconditionFailed, "PreconditionFailed")
	case err != nil || strings.Contains(r.Header.Get("Content-Encoding"), "aws-chunked"):
		Fail(w, http.StatusBadRequest, "InvalidRequest")
	default:
		s.objects[key] = body
	}
}

func (s *S3) list(w http.ResponseWriter, r *http.Request) {
	type object struct {
		Key, LastModified string
		Size              int
	}
	var out struct {
		XMLName  xml.Name `xml:"ListBucketResult"`
		Contents []object
	}
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if strings.HasPrefix(key, r.URL.Query().Get("prefix")) {
			out.Contents = append(out.Contents, object{key, modified.Format(time.RFC3339), len(s.objects[key])})
		}
	}
	_ = xml.NewEncoder(w).Encode(out)
}

// Fail answers a request with an error of S3.
func Fail(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	_ = xml.NewEncoder(w).Encode(struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
	}{Code: code})
}
