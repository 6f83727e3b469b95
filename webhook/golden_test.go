// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// TestGolden sends the requests in testdata/*.request.yaml to the webhooks that Register
// registers, and compares the responses with *.response.yaml. A request file has the objects
// that the reader finds, and then the AdmissionReview. A first line "# with: FILE ..." adds
// the objects of other files. UPDATE=1 rewrites the responses. The reader has the objects as they
// are, and then as the manager's cache holds them.
func TestGolden(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.request.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no requests: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".request.yaml"), func(t *testing.T) {
			t.Parallel()
			objects, request := readRequest(t, file)
			got := render(t, serve(t, objects).handle(t, *request))
			golden := strings.Replace(file, ".request.", ".response.", 1)
			if os.Getenv("UPDATE") != "" {
				if err := os.WriteFile(golden, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got); if the new response is right, run UPDATE=1 go test ./webhook and read the difference:\n%s", golden, diff)
			}
			held := render(t, serveCached(t, objects).handle(t, *request))
			if diff := cmp.Diff(string(want), string(held)); diff != "" {
				t.Errorf("%s, from the cache (-want +got):\n%s", golden, diff)
			}
		})
	}
}

// TestGoldenOfEveryHandler holds that each handler has golden requests.
func TestGoldenOfEveryHandler(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.request.yaml")
	if err != nil {
		t.Fatal(err)
	}
	tested := map[string]bool{}
	for _, file := range files {
		_, request := readRequest(t, file)
		tested[handlerOf(t, *request).Name] = true
	}
	for _, h := range entries.Handlers {
		if !tested[h.Name] {
			t.Errorf("handler %q has no golden request: add webhook/testdata/NAME.request.yaml, one for each outcome; if another "+
				"handler reviews the same requests, begin the uid of the AdmissionReview with %q", h.Name, h.Name)
		}
	}
}

// serveCached is serve with a reader that has the objects in the manager's cache.
func serveCached(tb testing.TB, objects observetest.Objects) testServer {
	tb.Helper()
	held, err := objects.Cached(source.CacheOptions())
	if err != nil {
		tb.Fatal(err)
	}
	r := readerOf(held)
	r.Live = objects
	return register(tb, r, &liveObjects{objects: objects})
}

func scheme(tb testing.TB) *runtime.Scheme {
	tb.Helper()
	s := runtime.NewScheme()
	if err := observe.AddToScheme(s); err != nil {
		tb.Fatal(err)
	}
	return s
}

// recordedRequests returns the requests of the fixtures whose names match a pattern.
func recordedRequests(tb testing.TB, pattern string) []*admissionv1.AdmissionRequest {
	tb.Helper()
	files, err := filepath.Glob("testdata/" + pattern + ".request.yaml")
	if err != nil {
		tb.Fatal(err)
	}
	var requests []*admissionv1.AdmissionRequest
	for _, file := range files {
		_, request := readRequest(tb, file)
		requests = append(requests, request)
	}
	return requests
}

func readRequest(tb testing.TB, file string) (observetest.Objects, *admissionv1.AdmissionRequest) {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	var objects observetest.Objects
	if first, _, _ := strings.Cut(string(text), "\n"); strings.HasPrefix(first, "# with: ") {
		for name := range strings.FieldsSeq(strings.TrimPrefix(first, "# with: ")) {
			objects = append(objects, readObjects(tb, filepath.Join("testdata", name))...)
		}
	}
	facts, review, found := bytes.Cut(text, []byte("---\napiVersion: admission.k8s.io/v1\n"))
	if !found {
		tb.Fatalf("%s doesn't end with a line --- and, after it, an AdmissionReview that begins with its apiVersion: the line is needed also without facts", file)
	}
	parsed, err := observetest.Parse(scheme(tb), facts)
	if err != nil {
		tb.Fatal(err)
	}
	var r admissionv1.AdmissionReview
	if err := yaml.UnmarshalStrict(review, &r); err != nil {
		tb.Fatal(err)
	}
	return append(objects, parsed...), r.Request
}

func readObjects(tb testing.TB, file string) observetest.Objects {
	tb.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	objects, err := observetest.Parse(scheme(tb), text)
	if err != nil {
		tb.Fatal(err)
	}
	return objects
}

// render returns a response as YAML, with its patch as a list.
func render(t *testing.T, r admission.Response) []byte {
	t.Helper()
	out := map[string]any{"uid": r.UID, "allowed": r.Allowed, "code": r.Result.Code}
	if r.Result.Message != "" {
		out["message"] = r.Result.Message
	}
	if len(r.Warnings) > 0 {
		out["warnings"] = r.Warnings
	}
	if len(r.AuditAnnotations) > 0 {
		out["auditAnnotations"] = r.AuditAnnotations
	}
	if len(r.Patch) > 0 {
		var patch any
		if err := json.Unmarshal(r.Patch, &patch); err != nil {
			t.Fatal(err)
		}
		out["patch"] = patch
	}
	text, err := yaml.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
