// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// direct matches a direct requirement. Indirect ones have a comment.
	direct = regexp.MustCompile(`(?m)^\s(\S+) v\S+$`)
	// major matches the suffix of a module path from major version 2 on.
	major = regexp.MustCompile(`/v[0-9]+$`)
	// named matches a module path, or several at once: k8s.io/{api,client-go}.
	named = regexp.MustCompile(`[a-z0-9]+\.[\w./-]*(?:\{[\w,-]+\})?[\w./-]*`)
)

// TestDependenciesHaveReasons verifies that docs/decisions/dependencies.md contains each
// module that a go.mod requires.
func TestDependenciesHaveReasons(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("decisions", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	has := map[string]bool{}
	for _, n := range named.FindAllString(string(text), -1) {
		for _, path := range alternatives(n) {
			has[major.ReplaceAllString(strings.TrimRight(path, "."), "")] = true
		}
	}
	for _, file := range []string{"../go.mod", "../test/go.mod"} {
		mod, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all := direct.FindAllStringSubmatch(string(mod), -1)
		if len(all) < 20 {
			t.Fatalf("found only %d requirements in %s", len(all), file)
		}
		for _, m := range all {
			path := major.ReplaceAllString(m[1], "")
			if !has[path] && !strings.HasSuffix(path, "kubectl-etcd/kubectl-etcd") {
				t.Errorf("%s requires %s, and no reason is documented", file, m[1])
			}
		}
	}
}

// alternatives returns the paths that a path with braces stands for.
func alternatives(path string) []string {
	before, rest, several := strings.Cut(path, "{")
	if !several {
		return []string{path}
	}
	inner, after, _ := strings.Cut(rest, "}")
	var all []string
	for name := range strings.SplitSeq(inner, ",") {
		all = append(all, before+name+after)
	}
	return all
}
