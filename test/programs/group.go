// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import "strings"

// group is what one go build makes: programs of one module that share the
// flags and most of the work.
type group struct {
	name    string // unique; names the cache entry
	dir     string // the module's folder, relative to the test module
	module  string // the upstream module; empty for our own
	version string // the upstream's version, as the module's go.mod pins it
	tags    string
	stamps  []string // linker variables with a program's version: name=value

	programs []program
}

// program is one main package and the name that callers use for its binary.
type program struct {
	name   string
	pkg    string
	binary string // the file's name where it isn't the program's own
}

// file returns the name of the binary in the cache.
func (p program) file() string {
	if p.binary != "" {
		return p.binary
	}
	return p.name
}

// own reports whether the sources are this project's, so that the key has to be
// taken from the files and not from the pinned versions alone.
func (g group) own() bool { return g.module == "" }

// title returns what a person reads in the progress and in errors.
func (g group) title() string {
	if g.own() {
		return g.name
	}
	return g.name + " " + g.version
}

// entry returns the group's name in the cache.
func (g group) entry() string { return "programs/" + g.name }

// flags returns the arguments of go build that change what is built.
func (g group) flags() []string {
	ldflags := []string{"-s", "-w"}
	for _, stamp := range g.stamps {
		ldflags = append(ldflags, "-X", stamp)
	}
	flags := []string{"-trimpath", "-buildvcs=false", "-ldflags=" + strings.Join(ldflags, " ")}
	if g.tags != "" {
		flags = append(flags, "-tags="+g.tags)
	}
	return flags
}

// packages returns the main packages of the group.
func (g group) packages() []string {
	packages := make([]string, len(g.programs))
	for i, p := range g.programs {
		packages[i] = p.pkg
	}
	return packages
}

// names returns the programs of the group.
func (g group) names() []string {
	names := make([]string, len(g.programs))
	for i, p := range g.programs {
		names[i] = p.name
	}
	return names
}
