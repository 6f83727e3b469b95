// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

//go:generate env UPDATE=1 go test -count=1 -run ^TestReference .

// TestReferenceTopologyPolicy checks that docs/reference/topology-policy.md has the fields of
// the definition.
func TestReferenceTopologyPolicy(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../manifests/crd/policy.kubectl-etcd.dev_etcdtopologypolicies.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema field `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(text, &crd); err != nil {
		t.Fatal(err)
	}
	top := crd.Spec.Versions[0].Schema.OpenAPIV3Schema
	var b strings.Builder
	b.WriteString("# EtcdTopologyPolicy\n\n`make generate` generates this page from the definition. [topology-policy.md](../topology-policy.md) shows how to use it.\n\n" +
		"`apiVersion: policy.kubectl-etcd.dev/v1alpha1`, `kind: EtcdTopologyPolicy`, cluster-scoped, short name `etp`.\n\n" + top.Description + "\n\n" +
		"The API server refuses a value outside of the limits with the message in the column limits.\n")
	for _, part := range []string{"spec", "status"} {
		fmt.Fprintf(&b, "\n## %s\n\n| field | type | default | limits | meaning |\n| --- | --- | --- | --- | --- |\n", part)
		top.Properties[part].rows(&b, part)
	}
	for _, message := range messagesIn(t, text) {
		if !strings.Contains(b.String(), message) {
			t.Errorf("the page lacks %q", message)
		}
	}
	same(t, "topology-policy.md", b.String())
}

// messagesIn returns the messages of all rules in a definition.
func messagesIn(t *testing.T, definition []byte) []string {
	t.Helper()
	var all []string
	var visit func(any)
	visit = func(node any) {
		switch n := node.(type) {
		case []any:
			for _, v := range n {
				visit(v)
			}
		case map[string]any:
			if m, ok := n["message"].(string); ok && n["rule"] != nil {
				all = append(all, m)
			}
			for _, v := range n {
				visit(v)
			}
		}
	}
	var top any
	if err := yaml.Unmarshal(definition, &top); err != nil {
		t.Fatal(err)
	}
	if visit(top); len(all) < 10 {
		t.Fatalf("found only %d rules in the definition", len(all))
	}
	return all
}

// field is the part of a definition's schema that the page shows.
type field struct {
	Description string           `json:"description"`
	Type        string           `json:"type"`
	Format      string           `json:"format"`
	Enum        []string         `json:"enum"`
	Default     any              `json:"default"`
	Properties  map[string]field `json:"properties"`
	Items       *field           `json:"items"`
	Additional  *field           `json:"additionalProperties"`
	Required    []string         `json:"required"`
	bounds      `json:",inline"`
	Validations []validation `json:"x-kubernetes-validations"`
}

// bounds are the limits that have no message.
type bounds struct {
	Minimum       *int64 `json:"minimum"`
	MinLength     int    `json:"minLength"`
	MaxLength     int    `json:"maxLength"`
	MaxItems      int    `json:"maxItems"`
	MaxProperties int    `json:"maxProperties"`
	Pattern       string `json:"pattern"`
}

// validation is a rule and its message.
type validation struct{ Rule, Message string }

func (s field) rows(b *strings.Builder, path string) {
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		limits := p.limits()
		if slices.Contains(s.Required, name) {
			limits = append([]string{"required"}, limits...)
		}
		fmt.Fprintf(b, "| `%s.%s` | %s | %s | %s | %s |\n", path, name, p.kind(), p.standard(), cell(strings.Join(limits, "<br>")), p.meaning(name))
		p.rows(b, path+"."+name)
		if p.Items != nil {
			p.Items.rows(b, path+"."+name+"[]")
		}
	}
}

func (s field) kind() string {
	switch {
	case len(s.Enum) > 0:
		return strings.Join(s.Enum, ", ")
	case s.Items != nil:
		return "list of " + s.Items.kind()
	case s.Additional != nil:
		return "map of " + s.Additional.kind()
	case s.isDuration():
		return "duration"
	case s.Format == "date-time":
		return "time"
	}
	return cmp.Or(s.Type, "any")
}

// isDuration reports whether a text is a duration. The schema has no type for durations.
func (s field) isDuration() bool {
	return slices.ContainsFunc(s.Validations, func(v validation) bool { return strings.Contains(v.Rule, "duration(self)") })
}

// limits returns the limits of a value.
func (s field) limits() []string {
	var all []string
	for _, v := range s.Validations {
		all = append(all, v.Message)
	}
	all = append(all, s.sizes()...)
	for each, of := range map[string]*field{"each: ": s.Items, "each value: ": s.Additional} {
		if of != nil {
			for _, limit := range of.limits() {
				all = append(all, each+limit)
			}
		}
	}
	return all
}

// sizes returns a field's bounds. It omits the length of a text with rules, which only limits
// the cost of the rules.
func (s field) sizes() []string {
	var all []string
	add := func(limit int, format string) {
		if limit > 0 {
			all = append(all, fmt.Sprintf(format, limit))
		}
	}
	if s.Minimum != nil {
		all = append(all, fmt.Sprintf("at least %d", *s.Minimum))
	}
	if len(s.Validations) == 0 || s.Type != "string" {
		add(s.MinLength, "length at least %d")
		add(s.MaxLength, "length at most %d")
	}
	add(s.MaxItems, "at most %d items")
	add(s.MaxProperties, "at most %d items")
	if s.Pattern != "" {
		all = append(all, "must match `"+s.Pattern+"`")
	}
	return all
}

func (s field) standard() string {
	switch d := s.Default.(type) {
	case nil, map[string]any:
		return ""
	case string:
		return "`" + d + "`"
	default:
		return fmt.Sprintf("`%v`", d)
	}
}

// cell escapes a text for a table.
func cell(text string) string { return strings.ReplaceAll(text, "|", "\\|") }

// meaning returns the description without the field's name, if the rest is a complete text.
func (s field) meaning(name string) string {
	text := strings.Join(strings.Fields(s.Description), " ")
	if rest, begins := strings.CutPrefix(text, name+" "); begins && !strings.HasPrefix(rest, "of ") && !strings.HasPrefix(rest, "that ") {
		text = strings.TrimPrefix(rest, "is ")
	}
	return cell(text)
}

// same compares a generated page with the committed one. UPDATE=1 rewrites it.
func same(t *testing.T, name, want string) {
	t.Helper()
	file := filepath.Join("..", "..", "docs", "reference", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := diff.Diff(string(got), want); d != "" {
		t.Errorf("docs/reference/%s differs from the source: run make generate\n%s", name, d)
	}
}
