// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package apitest is an API server in memory, for tests of what must be written in which
// order and of what happens when a write is refused. It keeps objects, their versions and
// the requests. It has no admission, no validation and no controllers: that a change works
// is shown on a real cluster. Only tests import it.
package apitest

import (
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/kubeclient"
)

// Object is an object as JSON has it.
type Object = map[string]any

// Server answers over HTTP, as the real client expects it. Any goroutine may use it.
type Server struct {
	// Refuse returns the status code by which a request is refused, 0 for none. It is
	// called before anything is done. Nil refuses nothing.
	Refuse func(method, path string) int
	// Deny reports whether the user lacks a permission. Nil denies nothing.
	Deny func(verb, resource string) bool
	// Dial connects to a port of a pod, for the subresource portforward. Nil refuses it.
	Dial func(pod string, port int) (net.Conn, error)

	url string

	mu       sync.Mutex
	objects  map[string]Object
	version  int
	requests []string
	manager  string
}

// Manager returns the field manager of the last write.
func (s *Server) Manager() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.manager
}

// New returns a server that runs until the test ends.
func New(t *testing.T) *Server {
	t.Helper()
	s := &Server{objects: map[string]Object{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

// Config returns the way to the server.
func (s *Server) Config() *rest.Config {
	return &rest.Config{Host: s.url, QPS: -1, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
}

// Client returns the plugin's own client of the server.
func (s *Server) Client(t *testing.T) client.Client {
	t.Helper()
	kube, err := kubeclient.Connect(s.Config())
	if err != nil {
		t.Fatal(err)
	}
	return kube
}

// Put keeps an object under its path: /api/v1/namespaces/team/configmaps/main.
func (s *Server) Put(at string, o Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(at, o)
}

// Get returns the object under a path, nil where there is none.
func (s *Server) Get(at string) Object {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.objects[at]
}

// Remove deletes the object under a path.
func (s *Server) Remove(at string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.objects, at)
}

// Paths returns the paths of all objects, sorted.
func (s *Server) Paths() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Sorted(maps.Keys(s.objects))
}

// Writes returns the requests that change something, as "POST /api/v1/…", in their order.
// Reviews of permissions are none.
func (s *Server) Writes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.requests), func(r string) bool {
		return strings.HasPrefix(r, "GET ") || strings.Contains(r, "/apis/auth")
	})
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if pod, ok := strings.CutSuffix(r.URL.Path, "/portforward"); ok {
		s.forward(w, r, path.Base(pod))
		return
	}
	body, err := decode(r)
	if err != nil {
		reply(w, http.StatusBadRequest, status(http.StatusBadRequest, err.Error()))
		return
	}
	if s.Refuse != nil {
		if code := s.Refuse(r.Method, r.URL.Path); code != 0 {
			reply(w, code, status(code, "refused by the test"))
			return
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	code, answer := s.answer(r, body)
	reply(w, code, answer)
}

// jsonPatch is the key under which decode returns a JSON patch, which is a list.
const jsonPatch = "json-patch"

// decode returns the body of a request, which the client sends as JSON or as protobuf. It is
// nil for a deletion without options. A JSON patch is under the key jsonPatch.
func decode(r *http.Request) (Object, error) {
	text, err := io.ReadAll(r.Body)
	if err != nil || len(text) == 0 {
		return nil, err
	}
	if strings.Contains(r.Header.Get("Content-Type"), "protobuf") {
		typed, _, err := scheme.Codecs.UniversalDeserializer().Decode(text, nil, nil)
		if err != nil {
			return nil, err
		}
		return runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	}
	if strings.Contains(r.Header.Get("Content-Type"), "json-patch") {
		return Object{jsonPatch: text}, nil
	}
	var body Object
	err = json.Unmarshal(text, &body)
	return body, err
}

func (s *Server) answer(r *http.Request, body Object) (int, Object) {
	at, dry := r.URL.Path, r.URL.Query().Get("dryRun") != ""
	if r.Method != http.MethodGet {
		s.manager = r.URL.Query().Get("fieldManager")
	}
	switch r.Method {
	case http.MethodGet:
		code, answer := s.read(at, r.URL.Query().Get("labelSelector"), r.URL.Query().Get("fieldSelector"))
		if strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList") && code == http.StatusOK {
			answer["apiVersion"], answer["kind"] = "meta.k8s.io/v1", "PartialObjectMetadataList"
		}
		return code, answer
	case http.MethodPost:
		return s.create(at, body, dry)
	case http.MethodPut, http.MethodPatch:
		return s.update(at, body, r.Header.Get("Content-Type"), dry)
	case http.MethodDelete:
		return s.remove(at, body, dry)
	}
	return http.StatusMethodNotAllowed, status(http.StatusMethodNotAllowed, r.Method)
}

func (s *Server) read(at, selector, field string) (int, Object) {
	if o, ok := s.objects[at]; ok {
		return http.StatusOK, o
	}
	if !isCollection(at) {
		return http.StatusNotFound, status(http.StatusNotFound, path.Base(at))
	}
	items := []any{}
	for _, name := range slices.Sorted(maps.Keys(s.objects)) {
		if collection(name, at) && selected(s.objects[name], selector) && onNode(s.objects[name], field) {
			items = append(items, s.objects[name])
		}
	}
	return http.StatusOK, Object{"metadata": Object{"resourceVersion": "1"}, "items": items}
}

// isCollection reports whether a path names a resource and no object of it.
func isCollection(at string) bool {
	parts := strings.Split(strings.Trim(at, "/"), "/")
	if parts[0] == "apis" {
		parts = parts[1:]
	}
	if len(parts) < 3 {
		return false // discovery
	}
	parts = parts[2:]
	if len(parts) > 1 && parts[0] == "namespaces" {
		parts = parts[2:]
	}
	return len(parts) == 1
}

// collection reports whether an object belongs to a collection, of one namespace or of all.
func collection(object, at string) bool {
	if path.Dir(object) == at {
		return true
	}
	group, resource := path.Split(at)
	return strings.HasPrefix(object, group+"namespaces/") && path.Base(path.Dir(object)) == resource
}

// selected reports whether an object has the labels of a selector. An empty one selects all.
func selected(o Object, selector string) bool {
	parsed, err := labels.Parse(selector)
	if err != nil {
		return false
	}
	set := labels.Set{}
	own, _ := metadata(o)["labels"].(Object)
	for key, value := range own {
		set[key], _ = value.(string)
	}
	return parsed.Matches(set)
}

// onNode reports whether a pod runs on the node of a field selector. No other field is known, so all
// other field selectors select everything.
func onNode(o Object, selector string) bool {
	node, is := strings.CutPrefix(selector, "spec.nodeName=")
	spec, _ := o["spec"].(Object)
	return !is || spec["nodeName"] == node
}

func reply(w http.ResponseWriter, code int, answer Object) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(answer) // the client sees it
}
