// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blobtest

import (
	"encoding/json"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// GCS is the part of the JSON API of Google Cloud Storage that a store uses, with the bucket "backups".
type GCS struct {
	Objects
}

// URL starts the server and returns the URL of an empty folder. It sets the environment, so the test can't be
// parallel.
func (s *GCS) URL(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Setenv("STORAGE_EMULATOR_HOST", server.URL)
	return "gs://backups/team/"
}

// ServeHTTP implements http.Handler.
func (s *GCS) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Fault != nil && s.Fault(w, r) {
		return
	}
	path, uploads := strings.CutPrefix(r.URL.EscapedPath(), "/upload")
	escaped, inBucket := strings.CutPrefix(path, "/storage/v1/b/backups/o")
	key, _ := url.PathUnescape(strings.TrimPrefix(escaped, "/"))
	found := s.get(key)
	switch {
	case !inBucket:
		FailGCS(w, http.StatusNotFound, "The specified bucket does not exist.")
	case uploads:
		s.upload(w, r)
	case key == "":
		s.list(w, r.URL.Query().Get("prefix"))
	case found == nil:
		FailGCS(w, http.StatusNotFound, "No such object")
	case r.Method == http.MethodDelete:
		s.remove(key)
		w.WriteHeader(http.StatusNoContent)
	case r.URL.Query().Get("alt") == "media":
		s.send(w, found)
	default:
		_ = json.NewEncoder(w).Encode(resource(key, found.size))
	}
}

func resource(key string, size int64) map[string]any {
	return map[string]any{"name": key, "size": strconv.FormatInt(size, 10), "updated": modified.Format(time.RFC3339)}
}

func (s *GCS) list(w http.ResponseWriter, prefix string) {
	items := []any{}
	for _, key := range s.keys(prefix) {
		items = append(items, resource(key, s.get(key).size))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"items": items})
}

// upload stores an object that comes in one request, or begins or continues one that comes in parts.
func (s *GCS) upload(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	if key := query.Get("part-of"); key != "" {
		s.part(w, r, key)
		return
	}
	var meta struct{ Name string }
	if query.Get("uploadType") == "resumable" {
		_ = json.NewDecoder(r.Body).Decode(&meta)
		if s.refuses(w, query, meta.Name) {
			return
		}
		query.Set("part-of", meta.Name)
		w.Header().Set("Location", "http://"+r.Host+r.URL.Path+"?"+query.Encode())
		return
	}
	_, parameters, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	parts := multipart.NewReader(r.Body, parameters["boundary"])
	first, _ := parts.NextPart()
	_ = json.NewDecoder(first).Decode(&meta)
	second, _ := parts.NextPart()
	c := s.read(second)
	if s.refuses(w, query, meta.Name) {
		return
	}
	s.put(meta.Name, c)
	_ = json.NewEncoder(w).Encode(resource(meta.Name, c.size))
}

// refuses reports whether it has answered a write: one of an object that must not exist, and does.
func (s *GCS) refuses(w http.ResponseWriter, query url.Values, key string) bool {
	if query.Get("ifGenerationMatch") != "0" || s.get(key) == nil {
		return false
	}
	FailGCS(w, http.StatusPreconditionFailed, "At least one of the pre-conditions you specified did not hold.")
	return true
}

// part adds to an upload, which is an object when its last part arrives.
func (s *GCS) part(w http.ResponseWriter, r *http.Request, key string) {
	pending := "uploading " + key
	all := s.get(pending)
	if all == nil {
		all = &content{}
	}
	all.add(s.read(r.Body))
	s.put(pending, all)
	if strings.HasSuffix(r.Header.Get("Content-Range"), "/*") {
		w.Header().Set("X-Http-Status-Code-Override", "308")
		w.Header().Set("Range", "bytes=0-"+strconv.FormatInt(all.size-1, 10))
		return
	}
	s.remove(pending)
	s.put(key, all)
	_ = json.NewEncoder(w).Encode(resource(key, all.size))
}

// FailGCS answers a request with an error of Google Cloud Storage.
func FailGCS(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, `{"error":{"code":`+strconv.Itoa(status)+`,"message":`+strconv.Quote(message)+`}}`)
}
