// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// TestServing reads pods as the products that run etcd make them, and says how
// their members serve and from where their certificates are. UPDATE=1 rewrites.
func TestServing(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/serving/*.pod.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no pods", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".pod.yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects := podObjects(t, read(t, file))
			pod, ok := objects[0].(*corev1.Pod)
			if !ok {
				t.Fatalf("%s begins with %T", file, objects[0])
			}
			r := &Reader{Reader: objects}
			s, err := r.Serving(t.Context(), pod)
			if err != nil {
				t.Fatal(err)
			}
			text, err := yaml.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			var origins strings.Builder
			for _, path := range []string{s.ClientTLS.Cert, s.ClientTLS.Key, s.ClientTLS.TrustedCA, s.Client.Cert} {
				_, from, err := r.Files(pod.Namespace).File(t.Context(), pod, s.Container, path)
				switch {
				case path == "":
				case err != nil:
					fmt.Fprintf(&origins, "# %v\n", err)
				default:
					fmt.Fprintf(&origins, "# %s: %s %s, key %s\n", path, from.Kind, from.Name, from.Key)
				}
			}
			golden(t, filepath.Join("testdata/serving", name+".golden.yaml"), origins.String()+string(text))
		})
	}
}

func podObjects(t *testing.T, text []byte) observetest.Objects {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	objects, err := observetest.Parse(scheme, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects {
		if s, ok := o.(*corev1.Secret); ok { // as the API server does
			s.Data = map[string][]byte{}
			for k, v := range s.StringData {
				s.Data[k] = []byte(v)
			}
		}
	}
	return objects
}
