// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package operate

import "testing"

func TestAgreed(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name string
		set  func(*Plan)
		want bool
	}{
		{"the same plan", func(*Plan) {}, true},
		{"other facts", func(p *Plan) { p.Facts = []string{"revision 8"} }, true},
		{"a warning that no longer applies", func(p *Plan) { p.Warnings = nil }, true},
		{"another error", func(p *Plan) { p.Passing = []Passing{{"unknown", "It is not known: EOF"}} }, true},
		{"an error of another kind", func(p *Plan) { p.Passing = append(p.Passing, Passing{"lost", "It is lost: EOF"}) }, false},
		{"another wait", func(p *Plan) { p.Waits = []string{"The paint dries."} }, true},
		{"no error", func(p *Plan) { p.Passing = nil }, true},
		{"another title", func(p *Plan) { p.Title = "paint another" }, false},
		{"another subject", func(p *Plan) { p.Subject = "another wall" }, false},
		{"another step", func(p *Plan) { p.Steps = []string{"take a roller"} }, false},
		{"one step more", func(p *Plan) { p.Steps = append([]string{"sand it"}, p.Steps...) }, false},
		{"the steps that are left of a change", func(p *Plan) { p.Continues, p.Steps = true, nil }, true},
		{"another subject of a change that continues", func(p *Plan) { p.Continues, p.Subject = true, "another wall" }, false},
		{"a new warning of a change that continues", func(p *Plan) { p.Continues, p.Warnings = true, []string{"It rains."} }, false},
		{"a new warning", func(p *Plan) { p.Warnings = append([]string{"It rains."}, p.Warnings...) }, false},
		{"another name to type", func(p *Plan) { p.Typed = "wall" }, false},
		{"a confirmation that -y is not", func(p *Plan) { p.Unconfirmed = "add --wet" }, false},
	} {
		agreed := Plan{
			Title: "paint it", Subject: "wall", Facts: []string{"revision 7"}, Steps: []string{"take a brush"},
			Warnings: []string{"It is wet."}, Passing: []Passing{{"unknown", "It is not known: timeout"}},
		}
		again := agreed
		row.set(&again)
		if got := again.Agreed(agreed); got != row.want {
			t.Errorf("%s: %t, want %t", row.name, got, row.want)
		}
	}
	if now := (Plan{Passing: []Passing{{"unknown", "It is not known: EOF"}}}); now.Agreed(Plan{}) {
		t.Error("an error of which nothing warned")
	}
}
