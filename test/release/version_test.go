// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVersionIsPublishable: a version that krew or a registry refuses is refused before
// anything is made, and before what an earlier release left goes.
func TestVersionIsPublishable(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]bool{
		"": true, "v1.2.3": true, "v0.1.0-rc.1": true,
		"1.2.3": false, "v1.2": false, "v1.2.3+x": false, "latest": false, "v01.2.3": false,
	} {
		if got := publishable(version); got != want {
			t.Errorf("%q: %t", version, got)
		}
	}
	out := t.TempDir()
	left := filepath.Join(out, "checksums.txt")
	if err := os.WriteFile(left, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(t.Context(), Options{Source: "nowhere", Out: out, Version: "1.2.3"}); err == nil || !strings.Contains(err.Error(), `version "1.2.3"`) {
		t.Error(err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Error(err)
	}
}
