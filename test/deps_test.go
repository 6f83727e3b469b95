// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/kubectl-etcd/kubectl-etcd/"

// The rule of ARCHITECTURE.md: dependencies point from the programs to the
// rules and never back, admission and control know nothing of each other nor of
// etcd's own API, and what the plugin does to a cluster knows no command line.
var forbidden = map[string][]string{
	"policy":               {module, "k8s.io/", "sigs.k8s.io/", "go.etcd.io/", "github.com/", "golang.org/", "net/http"},
	"internal/observe":     {module + "webhook", module + "controller", module + "internal/etcd", module + "internal/operate", module + "cmd"},
	"internal/etcd":        {module + "webhook", module + "controller", module + "internal/operate", module + "cmd"},
	"internal/operate":     {module + "webhook", module + "controller", module + "cmd", "github.com/spf13/", "k8s.io/cli-runtime"},
	"internal/certificate": {module + "webhook", module + "controller", module + "internal", module + "policy", module + "cmd"},
	"webhook":              {module + "controller", module + "internal/etcd", module + "internal/operate", module + "cmd", "go.etcd.io/"},
	"controller":           {module + "webhook", module + "internal/etcd", module + "internal/operate", module + "cmd", "go.etcd.io/"},
	"api/output/v1alpha1":  {module + "webhook", module + "controller", module + "internal", module + "cmd", module + "policy", "go.etcd.io/", "sigs.k8s.io/controller-runtime"},
	"cmd/kubectl-etcd":     {module + "webhook", module + "controller"},
}

// What policy may import itself: nothing that blocks, reads a clock or does I/O.
var pure = []string{"cmp", "errors", "fmt", "maps", "slices", "sort", "strconv", "strings", "time"}

func TestDependencyRule(t *testing.T) {
	packages := listDeps(t)
	for from, banned := range forbidden {
		start := module + from
		if _, ok := packages[start]; !ok {
			t.Errorf("package %s is not there: is the rule's table out of date?", start)
			continue
		}
		for _, to := range reach(packages, start) {
			if to != start && slices.ContainsFunc(banned, func(b string) bool { return strings.HasPrefix(to, b) }) {
				t.Errorf("%s must not depend on %s:\n\t%s", from, to, strings.Join(chain(packages, start, to), "\n\t-> "))
			}
		}
	}
}

func TestPolicyIsPure(t *testing.T) {
	for _, i := range listDeps(t)[module+"policy"] {
		if !slices.Contains(pure, i) {
			t.Errorf("policy imports %s; it may import only %s", i, strings.Join(pure, ", "))
		}
	}
}

// TestRootModuleHasNoReplace holds what `go install …/cmd/kubectl-etcd@latest` needs.
func TestRootModuleHasNoReplace(t *testing.T) {
	out, err := goTool("mod", "edit", "-json")
	if err != nil {
		t.Fatal(err)
	}
	var mod struct{ Replace []any }
	if err := json.Unmarshal(out, &mod); err != nil {
		t.Fatal(err)
	}
	if len(mod.Replace) > 0 {
		t.Errorf("the root go.mod has %d replace directives: go install then refuses the module", len(mod.Replace))
	}
}

func goTool(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = ".."
	out, err := cmd.Output()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return out, errors.New(string(exit.Stderr))
	}
	return out, err
}

// listDeps returns the imports of every package that the root module reaches.
func listDeps(t *testing.T) map[string][]string {
	t.Helper()
	out, err := goTool("list", "-deps", "-json=ImportPath,Imports", "./...")
	if err != nil {
		t.Fatal(err)
	}
	packages := map[string][]string{}
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = p.Imports
	}
}

func reach(packages map[string][]string, from string) []string {
	seen := []string{from}
	for i := 0; i < len(seen); i++ {
		for _, to := range packages[seen[i]] {
			if !slices.Contains(seen, to) {
				seen = append(seen, to)
			}
		}
	}
	return seen
}

// chain returns one shortest path of imports, so that the message says whom to ask.
func chain(packages map[string][]string, from, to string) []string {
	type step struct {
		pkg  string
		path []string
	}
	queue, seen := []step{{from, []string{from}}}, map[string]bool{from: true}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if s.pkg == to {
			return s.path
		}
		for _, next := range packages[s.pkg] {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, step{next, append(slices.Clone(s.path), next)})
			}
		}
	}
	return nil
}
