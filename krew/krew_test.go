// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package krew

import (
	"testing"

	"sigs.k8s.io/yaml"
)

// TestManifest parses the rendered YAML. The test module validates it with krew itself.
func TestManifest(t *testing.T) {
	t.Parallel()
	text, err := Manifest(Release{Version: "v1.2.3", Archives: []Archive{
		{OS: "linux", Arch: "amd64", URI: "https://example.org/a.tar.gz", SHA256: "00ff", Bin: "kubectl-etcd"},
		{OS: "windows", Arch: "arm64", URI: "https://example.org/b.zip", SHA256: "11ee", Bin: "kubectl-etcd.exe"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Metadata struct{ Name string }
		Spec     struct {
			Version   string
			Platforms []struct {
				Selector         struct{ MatchLabels map[string]string }
				URI, SHA256, Bin string
			}
		}
	}
	if err := yaml.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if got.Metadata.Name != Name || got.Spec.Version != "v1.2.3" || len(got.Spec.Platforms) != 2 {
		t.Fatalf("got %+v", got)
	}
	if p := got.Spec.Platforms[1]; p.Selector.MatchLabels["os"] != "windows" || p.Selector.MatchLabels["arch"] != "arm64" ||
		p.URI != "https://example.org/b.zip" || p.SHA256 != "11ee" || p.Bin != "kubectl-etcd.exe" {
		t.Errorf("the second platform is %+v", p)
	}
}
