// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
)

// advisedProse are what texts have behind the name of a verb that they describe, and that they don't advise
// anyone to type.
var advisedProse = []string{
	"scale.", "scale,", "scale does", "scale accepts", "scale removes", "scale starts", "scale runs", "restart does", "restart is", "cut-client-traffic keeps",
	"cut-client-traffic,", "member promote",
}

// advised finds a command and what follows it in the same text.
var advised = regexp.MustCompile(`kubectl etcd ((?:alarm|member|snapshot|volume) [a-z-]+|[a-z-]+)(\W?.*)`)

// target is what names a cluster behind a verb: a placeholder, or a value that is filled in. A text that ends
// there goes on in another one.
var target = regexp.MustCompile(`^ (?:-n (?:%s|[a-z-]+|[A-Z]+) )?(?:[A-Z]{2,}\b|%(?:\[\d\])?s|[a-z]+/(?:%(?:\[\d\])?s|[A-Z]+)|-A|$)`)

// TestAdvisedCommands holds that each command that a message, a cure or an alert advises names its cluster, or has
// a placeholder for it: it can be typed as it is printed.
func TestAdvisedCommands(t *testing.T) {
	t.Parallel()
	verbs := verbsWithTarget()
	eachText(t, func(path, text string) {
		if strings.HasSuffix(path, ".md") {
			return
		}
		for _, found := range incomplete(text, verbs) {
			t.Errorf("%s advises a command without a target: %q", path, found)
		}
	})
	for text, want := range map[string]int{
		"see kubectl etcd status": 1, "kubectl etcd status": 0, "(kubectl etcd defrag)": 1, "(kubectl etcd defrag %s)": 0, "kubectl etcd member replace POD": 0, "kubectl etcd list -A": 0,
		"kubectl etcd check %s and kubectl etcd member remove": 1, "kubectl etcd scale, which removes": 0, "kubectl etcd scale statefulset/%s -n": 0,
	} {
		if got := incomplete(text, verbs); len(got) != want {
			t.Errorf("%q: %q, want %d", text, got, want)
		}
	}
}

// verbsWithTarget returns the commands whose arguments name a cluster or its pods.
func verbsWithTarget() []string {
	var out []string
	var walk func(cmd *cobra.Command, prefix string)
	walk = func(cmd *cobra.Command, prefix string) {
		for _, c := range cmd.Commands() {
			name := strings.TrimSpace(prefix + " " + c.Name())
			// Without a target, sweep acts on the whole namespace.
			if strings.Contains(c.Use, "TARGET") && c.Name() != "sweep" {
				out = append(out, name)
			}
			walk(c, name)
		}
	}
	walk(newRootCmd(app.New(genericiooptions.NewTestIOStreamsDiscard())), "")
	return out
}

// parsed returns a file of Go.
func parsed(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// sentences returns the texts of a file, without those of the help of commands, which describe.
func sentences(file *ast.File) []string {
	var out []string
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.KeyValueExpr:
			key, named := n.Key.(*ast.Ident)
			return !named || !slices.Contains([]string{"Long", "Example", "Doc"}, key.Name)
		case *ast.CallExpr:
			called, of := n.Fun.(*ast.SelectorExpr)
			return !of || called.Sel.Name != "Examples"
		case *ast.BasicLit:
			if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
				out = append(out, text)
			}
		}
		return true
	})
	return out
}

// incomplete returns the commands of a text that name no cluster.
func incomplete(text string, verbs []string) []string {
	var out []string
	for i, part := range strings.Split(text, "kubectl etcd ") {
		m := advised.FindStringSubmatch("kubectl etcd " + part)
		named := text == "kubectl etcd "+part // it is completed elsewhere, or the name of a list
		if i == 0 || m == nil || named && m[2] == "" || !slices.Contains(verbs, m[1]) {
			continue
		}
		prose := slices.ContainsFunc(advisedProse, func(p string) bool { return strings.HasPrefix(part, p) })
		// A text that ends with a space goes on with a target.
		if !prose && (!target.MatchString(m[2]) || m[2] == "") {
			out = append(out, "kubectl etcd "+part)
		}
	}
	return out
}
