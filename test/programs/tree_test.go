// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// greeting is a module of ours with two programs, one of which embeds a file
// and uses a package.
var greeting = map[string]string{
	"go.mod": "module example.com/greeting\n\ngo 1.26\n",
	"hello/hello.go": `package main

import (
	_ "embed"
	"os"

	"example.com/greeting/text"
)

//go:embed name
var name string

func main() { os.Stdout.WriteString(text.Hello + name) }
`,
	"hello/name":   "you",
	"text/text.go": "package text\n\nconst Hello = \"hello \"\n",
	"bye/bye.go":   "package main\n\nfunc main() {}\n",
}

var (
	hello = group{name: "hello", dir: "greeting", programs: []program{{name: "hello", pkg: "example.com/greeting/hello", binary: "salute"}}}
	bye   = group{name: "bye", dir: "greeting", programs: []program{{name: "bye", pkg: "example.com/greeting/bye"}}}
)

// writeTree writes the module into a checkout of its own.
func writeTree(t *testing.T) checkout {
	t.Helper()
	tree := checkout(t.TempDir())
	for name, content := range greeting {
		writeFile(t, tree, name, content)
	}
	return tree
}

// writeFile writes one file of the module.
func writeFile(t *testing.T, tree checkout, name, content string) {
	t.Helper()
	path := filepath.Join(tree.module("greeting"), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// ensureGroups does what Ensure does, for groups that aren't in the table.
func ensureGroups(ctx context.Context, t *testing.T, cache Cache, tree checkout, wanted ...group) (paths map[string]string, printed string, err error) {
	t.Helper()
	var progress bytes.Buffer
	builds, err := plan(ctx, cache, tree, wanted, &progress)
	if err != nil {
		return nil, "", err
	}
	err = run(ctx, cache, tree, builds, &progress)
	return pathsOf(builds), progress.String(), err
}

// pathsOf returns the path of every program of the builds.
func pathsOf(builds []build) map[string]string {
	var names []string
	for _, b := range builds {
		names = append(names, b.names()...)
	}
	return paths(names, builds)
}

func TestBuild(t *testing.T) {
	t.Parallel()
	tree, cache := writeTree(t), Cache{t.TempDir()}
	built, printed, err := ensureGroups(t.Context(), t, cache, tree, hello, bye)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"[1/2] building hello\n", "[1/2] built hello in ", "[2/2] building bye\n", "[2/2] built bye in "} {
		if !strings.Contains(printed, line) {
			t.Errorf("the progress lacks %q:\n%s", line, printed)
		}
	}
	checkGreeting(t, built["hello"], "hello you")

	_, printed, err = ensureGroups(t.Context(), t, cache, tree, hello, bye)
	if err != nil || printed != "" {
		t.Errorf("with everything in the cache it prints %q, %v", printed, err)
	}

	writeFile(t, tree, "hello/name", "world")
	built, printed, err = ensureGroups(t.Context(), t, cache, tree, hello, bye)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(printed, "[1/1] building hello\n") || strings.Contains(printed, "bye") {
		t.Errorf("a change of hello builds:\n%s", printed)
	}
	checkGreeting(t, built["hello"], "hello world")
}

// checkGreeting compares what a program prints.
func checkGreeting(t *testing.T, path, want string) {
	t.Helper()
	if filepath.Base(path) != "salute" {
		t.Errorf("the program is at %s", path)
	}
	out, err := exec.Command(path).Output()
	if err != nil || string(out) != want {
		t.Errorf("%s prints %q (%v), want %q", path, out, err, want)
	}
}

func TestBuildThatFails(t *testing.T) {
	t.Parallel()
	tree, cache := writeTree(t), Cache{t.TempDir()}
	writeFile(t, tree, "text/text.go", "package text\n\nconst Hello = 1 + \"x\"\n")
	_, printed, err := ensureGroups(t.Context(), t, cache, tree, hello)
	if err == nil {
		t.Fatal("a program that doesn't compile was built")
	}
	for _, part := range []string{"build hello in module " + tree.module("greeting"), "text/text.go:3:", "mismatched types"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error lacks %q: %v", part, err)
		}
	}
	if !strings.Contains(printed, "[1/1] could not build hello in ") {
		t.Errorf("the progress is:\n%s", printed)
	}
	checkNames(t, filepath.Join(cache.Dir, "programs", "hello"), ".lock")
}

func TestBuildThatIsCancelled(t *testing.T) {
	t.Parallel()
	tree, cache := writeTree(t), Cache{t.TempDir()}
	builds, err := plan(t.Context(), cache, tree, []group{hello}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	progress := writerFunc(func(line []byte) {
		if bytes.Contains(line, []byte("building")) {
			cancel()
		}
	})
	if err := run(ctx, cache, tree, builds, progress); err == nil {
		t.Error("a cancelled build returned no error")
	}
	checkNames(t, filepath.Join(cache.Dir, "programs", "hello"), ".lock")
}

// writerFunc is a writer that inspects what is written.
type writerFunc func([]byte)

func (f writerFunc) Write(data []byte) (int, error) {
	f(data)
	return len(data), nil
}
