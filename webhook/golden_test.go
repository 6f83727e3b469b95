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
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// handlers are tried by the first word of a request file's name.
func handlers(r *observe.Reader) map[string]admission.Handler {
	return map[string]admission.Handler{
		"pod":     Pod(r, testIdentity),
		"owner":   Owner(r),
		"budget":  PodDisruptionBudget(r, testSelf),
		"service": Service(r.Leases.Clock, testSelf),
	}
}

// testSelf is who the controller is.
const testSelf = "system:serviceaccount:kubectl-etcd-system:etcd-webhook"

// testIdentity is who answers in the tests.
var testIdentity = Identity{Replica: "etcd-webhook-0", Version: "v1.2.3"}

// testNow is when every request is made.
var testNow = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// readerOf reads objects at testNow, when it sees their leases for the first time.
func readerOf(objects observetest.Objects) *observe.Reader {
	return &observe.Reader{Reader: objects, Leases: &observe.LeaseClock{Clock: testclock.NewFakePassiveClock(testNow)}}
}

// TestGolden runs testdata/*.request.yaml through admission.Webhook, so that
// panics, UIDs and codes count, and compares with *.response.yaml. A request
// file is the objects that the reader finds, then the AdmissionReview. A first
// line "# with: FILE ..." adds the objects of other files. UPDATE=1 rewrites.
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
			kind, _, _ := strings.Cut(filepath.Base(file), "-")
			handler, ok := handlers(readerOf(objects))[kind]
			if !ok {
				t.Fatalf("no handler for %q", kind)
			}
			wh := &admission.Webhook{Handler: handler}
			got := render(t, wh.Handle(t.Context(), admission.Request{AdmissionRequest: *request}))
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
				t.Errorf("%s (-want +got):\n%s", golden, diff)
			}
		})
	}
}

func scheme(tb testing.TB) *runtime.Scheme {
	tb.Helper()
	s := runtime.NewScheme()
	if err := observe.AddToScheme(s); err != nil {
		tb.Fatal(err)
	}
	return s
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
		tb.Fatalf("%s has no AdmissionReview at its end", file)
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

// render is a response as YAML, its patch as a list that people can read.
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
