// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

// TestRender compares the manifests of each flavour and option with golden files. UPDATE=1
// rewrites the golden files.
func TestRender(t *testing.T) {
	t.Parallel()
	two, half := intstr.FromInt32(2), intstr.FromString("50%")
	for _, c := range []struct {
		golden string
		spec   Spec
	}{
		{"druid-3", Spec{Flavour: Druid}},
		{"druid-1-root", Spec{Flavour: Druid, Size: 1, Druid: DruidSpec{RunAsRoot: true}}},
		{"druid-3-tls", Spec{Flavour: Druid, TLS: true, StorageClass: "node"}},
		{"druid-5-apart", Spec{
			Flavour: Druid, Size: 5, Apart: "topology.kubernetes.io/zone",
			Annotations: map[string]string{"example.org/why": "DEP-01"},
			Druid:       DruidSpec{NoBackups: true, MemberNamePrefix: "blue"},
		}},
		{"plain-3", Spec{Flavour: Plain}},
		{"plain-5-tls", Spec{Flavour: Plain, Size: 5, TLS: true, Version: "3.6"}},
		{"plain-3-ordered", Spec{Flavour: Plain, Ephemeral: true, Budget: &Budget{MinAvailable: &two}, Plain: PlainSpec{Ordered: true}}},
		{"plain-1-shell", Spec{Flavour: Plain, Size: 1, Version: "3.5", Plain: PlainSpec{Shell: true, NoProbes: true}}},
		{"bitnami-3", Spec{Flavour: Bitnami}},
		{"kamaji-1", Spec{Flavour: Plain, Size: 1, Plain: PlainSpec{Like: Kamaji}}},
		{"karmada-1", Spec{Flavour: Plain, Size: 1, Plain: PlainSpec{Like: Karmada}}},
		{"vcluster-3", Spec{Flavour: Plain, Plain: PlainSpec{Like: VCluster}}},
		{"config-file-1-tls", Spec{Flavour: Plain, Size: 1, TLS: true, Plain: PlainSpec{Like: ConfigFile}}},
		{"docs-3", Spec{Flavour: Plain, Plain: PlainSpec{Like: Docs}}},
		{"docs-1-tls", Spec{Flavour: Plain, Size: 1, TLS: true, Plain: PlainSpec{Like: Docs}}},
		{"bitnami-1-auth", Spec{Flavour: Bitnami, Size: 1, Ephemeral: true, Bitnami: BitnamiSpec{Auth: true}}},
		{"bitnami-3-tls", Spec{Flavour: Bitnami, TLS: true, Budget: &Budget{MinAvailable: &half}}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			t.Parallel()
			if err := c.spec.check(); err != nil {
				t.Fatal(err)
			}
			l := layout{Spec: c.spec.withDefaults(), Namespace: "demo", Name: "main"}
			objects, err := l.objects()
			if err != nil {
				t.Fatal(err)
			}
			golden(t, c.golden, objects)
		})
	}
}

func TestRenderOperator(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]DruidOptions{
		"operator": {},
		"operator-protection": {
			AutoReconcile: true, OwnTimings: true, Protection: true,
			ExemptServiceAccounts: []string{"system:serviceaccount:etcd-webhook:etcd-webhook"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, err := operatorObjects(options)
			if err != nil {
				t.Fatal(err)
			}
			if options.Protection {
				webhook, err := render("protection.yaml", map[string]any{"Namespace": DruidNamespace, "Authority": []byte("authority")})
				if err != nil {
					t.Fatal(err)
				}
				objects = append(objects, webhook...)
			}
			golden(t, name, objects)
		})
	}
}

func golden(t *testing.T, name string, objects []*unstructured.Unstructured) {
	t.Helper()
	var got bytes.Buffer
	for _, object := range objects {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		got.WriteString("---\n")
		got.Write(text)
	}
	file := filepath.Join("testdata", name+".yaml")
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, got.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", file, diff)
	}
}
