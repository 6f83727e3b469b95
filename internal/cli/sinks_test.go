// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	direct = regexp.MustCompile(`fmt\.Fprint|io\.WriteString`)
	// harmless are empty lines, and texts that are built and not printed.
	harmless = regexp.MustCompile(`fmt\.Fprintln\([\w.]+\)|fmt\.Fprintf\(&?(b|flags),`)
)

// TestSinks: the verbs print by the functions of package ui, which print nothing that controls the
// terminal. Their texts have parts that other clients of the cluster wrote.
func TestSinks(t *testing.T) {
	t.Parallel()
	own := []string{
		"help.go", "completion/completion.go", // texts of this program
		"proxy/proxy.go",  // addresses on this machine, for a shell
		"status/watch.go", // a separator
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			strings.HasPrefix(path, "ui/") || slices.Contains(own, filepath.ToSlash(path)) {
			return err
		}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if direct.MatchString(line) && !harmless.MatchString(line) {
				t.Errorf("%s prints without internal/cli/ui: use Console.Line, Console.Linef or ui.Table instead of:\n%s", path, line)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
