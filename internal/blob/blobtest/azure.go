// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blobtest

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// Azure is the part of the API of Azure's blobs that a store uses, with the container "backups".
type Azure struct {
	Objects
}

// azureKey is a key in the form that the SDK needs. It is no secret.
const azureKey = "bm8gc2VjcmV0"

// URL starts the server and returns the URL of an empty folder. It sets the environment, so the test can't be
// parallel.
func (s *Azure) URL(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	t.Setenv("AZURE_STORAGE_CONNECTION_STRING", "DefaultEndpointsProtocol=http;AccountName=acme;AccountKey="+azureKey+";BlobEndpoint="+server.URL+"/acme")
	return "azblob://backups/team/"
}

// ServeHTTP implements http.Handler.
func (s *Azure) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Fault != nil && s.Fault(w, r) {
		return
	}
	key, inContainer := strings.CutPrefix(r.URL.Path, "/acme/backups")
	key = strings.TrimPrefix(key, "/")
	found := s.get(key)
	switch {
	case !strings.HasPrefix(r.Header.Get("Authorization"), "SharedKey acme:"):
		FailAzure(w, http.StatusForbidden, "AuthenticationFailed")
	case !inContainer:
		FailAzure(w, http.StatusNotFound, "ContainerNotFound")
	case key == "":
		s.list(w, r.URL.Query().Get("prefix"))
	case r.Method == http.MethodPut:
		s.write(w, r, key)
	case found == nil:
		FailAzure(w, http.StatusNotFound, "BlobNotFound")
	case r.Method == http.MethodDelete:
		s.remove(key)
		w.WriteHeader(http.StatusAccepted)
	case r.Method == http.MethodHead:
		w.Header().Set("Content-Length", strconv.FormatInt(found.size, 10))
		for _, name := range []string{"Last-Modified", "X-Ms-Creation-Time"} {
			w.Header().Set(name, modified.Format(http.TimeFormat))
		}
		w.Header().Set("Etag", `"1"`)
	default:
		s.send(w, found)
	}
}

// write stores an object, a block of one, or the list of its blocks.
func (s *Azure) write(w http.ResponseWriter, r *http.Request, key string) {
	query, c := r.URL.Query(), s.read(r.Body)
	switch {
	case query.Get("comp") == "block":
		s.put("block "+key+query.Get("blockid"), c)
	case r.Header.Get("If-None-Match") == "*" && s.get(key) != nil:
		FailAzure(w, http.StatusConflict, "BlobAlreadyExists")
		return
	case query.Get("comp") == "blocklist":
		s.put(key, s.joined(key, c))
	default:
		s.put(key, c)
	}
	w.WriteHeader(http.StatusCreated)
}

// joined returns the blocks of a list. With Zeros the list itself isn't known, and all blocks count.
func (s *Azure) joined(key string, list *content) *content {
	var blocks struct{ Latest []string }
	_ = xml.Unmarshal(list.data, &blocks)
	all := &content{}
	if s.Zeros {
		for _, block := range s.keys("block " + key) {
			all.add(s.get(block))
		}
	}
	for _, id := range blocks.Latest {
		all.add(s.get("block " + key + id))
	}
	for _, block := range s.keys("block " + key) {
		s.remove(block)
	}
	return all
}

func (s *Azure) list(w http.ResponseWriter, prefix string) {
	type properties struct {
		Modified string `xml:"Last-Modified"`
		Size     int64  `xml:"Content-Length"`
	}
	type blob struct {
		Name       string
		Properties properties
	}
	var out struct {
		XMLName xml.Name `xml:"EnumerationResults"`
		Blobs   []blob   `xml:"Blobs>Blob"`
	}
	for _, key := range s.keys(prefix) {
		out.Blobs = append(out.Blobs, blob{key, properties{modified.Format(http.TimeFormat), s.get(key).size}})
	}
	w.Header().Set("Content-Type", "application/xml")
	_ = xml.NewEncoder(w).Encode(out)
}

// FailAzure answers a request with an error of Azure.
func FailAzure(w http.ResponseWriter, status int, code string) {
	w.Header().Set("X-Ms-Error-Code", code)
	w.WriteHeader(status)
	_, _ = w.Write([]byte(`<Error><Code>` + url.PathEscape(code) + `</Code></Error>`))
}
