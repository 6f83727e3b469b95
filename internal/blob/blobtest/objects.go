// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package blobtest

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Objects are the objects of the bucket "backups" of GCS or Azure.
type Objects struct {
	// Fault answers a request in place of the server, and returns true, or returns false. It may be nil.
	Fault func(http.ResponseWriter, *http.Request) bool
	// Zeros counts what is stored, and returns as many zeros, for objects larger than the memory.
	Zeros bool

	mu      sync.Mutex
	content map[string]*content
}

// content is an object, or a part of an upload.
type content struct {
	data []byte
	size int64
}

// read reads the body of a request.
func (o *Objects) read(from io.Reader) *content {
	if o.Zeros {
		n, _ := io.Copy(io.Discard, from)
		return &content{size: n}
	}
	data, _ := io.ReadAll(from)
	return &content{data, int64(len(data))}
}

func (c *content) add(part *content) {
	c.data, c.size = append(c.data, part.data...), c.size+part.size
}

func (o *Objects) get(key string) *content {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.content[key]
}

func (o *Objects) put(key string, c *content) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.content == nil {
		o.content = map[string]*content{}
	}
	o.content[key] = c
}

// remove removes an object.
func (o *Objects) remove(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.content, key)
}

// keys returns those with a prefix, sorted.
func (o *Objects) keys(prefix string) []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := slices.Sorted(maps.Keys(o.content))
	return slices.DeleteFunc(all, func(k string) bool { return !strings.HasPrefix(k, prefix) })
}

// send answers with the content of an object.
func (o *Objects) send(w http.ResponseWriter, c *content) {
	w.Header().Set("Last-Modified", modified.Format(http.TimeFormat))
	w.Header().Set("Content-Length", strconv.FormatInt(c.size, 10))
	if o.Zeros {
		_, _ = io.CopyN(w, Zeros{}, c.size)
		return
	}
	_, _ = w.Write(c.data)
}

// Zeros reads as zeros without an end.
type Zeros struct{}

// Read implements io.Reader.
func (Zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// Cut answers with half of what it announces, and ends the connection.
func Cut(w http.ResponseWriter) {
	w.Header().Set("Content-Length", "200000")
	w.Header().Set("Last-Modified", modified.Format(http.TimeFormat))
	_, _ = w.Write(make([]byte, 100000))
	panic(http.ErrAbortHandler)
}
