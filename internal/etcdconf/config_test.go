// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// TestParsePod reads pods as the products that run etcd make them, and reports their
// members' configuration and the objects that hold their certificates. UPDATE=1 rewrites
// the golden files.
func TestParsePod(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/pods/*.pod.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no pods", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".pod.yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod, contents := parseObjects(t, readFile(t, file))
			c, err := ParsePod(pod, contents)
			if err != nil {
				t.Fatal(err)
			}
			text, err := yaml.Marshal(c)
			if err != nil {
				t.Fatal(err)
			}
			var origins strings.Builder
			for _, path := range []string{c.ClientTLS.Cert, c.ClientTLS.Key, c.ClientTLS.TrustedCA, c.Client.Cert} {
				_, from, err := ReadFile(pod, c.Container, path, contents)
				switch {
				case path == "":
				case err != nil:
					fmt.Fprintf(&origins, "# %v\n", err)
				default:
					fmt.Fprintf(&origins, "# %s: %s %s, key %s\n", path, from.Kind, from.Name, from.Key)
				}
			}
			golden(t, filepath.Join("testdata/pods", name+".golden.yaml"), origins.String()+string(text))
		})
	}
}

// parseObjects returns the pod that a manifest begins with and the data of the ConfigMaps
// and Secrets behind it.
func parseObjects(t *testing.T, text []byte) (*corev1.Pod, Contents) {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	objects, err := observetest.Parse(scheme, text)
	if err != nil {
		t.Fatal(err)
	}
	pod, ok := objects[0].(*corev1.Pod)
	if !ok {
		t.Fatalf("the manifest begins with %T", objects[0])
	}
	held := map[[2]string]map[string][]byte{}
	for _, o := range objects[1:] {
		var kind string
		var text map[string]string
		switch o := o.(type) {
		case *corev1.Secret:
			kind, text = "Secret", o.StringData
		case *corev1.ConfigMap:
			kind, text = "ConfigMap", o.Data
		}
		data := map[string][]byte{}
		for k, v := range text {
			data[k] = []byte(v)
		}
		held[[2]string{kind, o.GetName()}] = data
	}
	return pod, func(kind, name string) (map[string][]byte, error) {
		data, ok := held[[2]string{kind, name}]
		if !ok {
			return nil, &MissingError{Kind: kind, Namespace: pod.Namespace, Name: name}
		}
		return data, nil
	}
}

func readFile(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// golden compares text with a golden file, or writes it when UPDATE is set.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(readFile(t, file)), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
