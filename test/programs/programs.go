// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package programs builds the programs that the testbed runs, from modules that
// are pinned in the folders beside it, and keeps them in a cache by content: what
// is there for the same sources, flags and Go version is never built again.
// It downloads no binary and knows nothing of images or clusters.
package programs

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Ensure builds the named programs that are not in the cache yet and returns the
// path of each by name. Programs of one upstream are built together. What it
// builds, how far it is and how many builds are left is written to progress; where
// nothing has to be built, nothing is written there.
//
// Several processes may call Ensure on one cache at once: each build runs once.
func Ensure(ctx context.Context, cache Cache, names []string, progress io.Writer) (map[string]string, error) {
	if paths, ok := ensured(cache, names); ok {
		return paths, nil
	}
	wanted, err := groupsOf(names)
	if err != nil {
		return nil, err
	}
	tree, err := findCheckout()
	if err != nil {
		return nil, err
	}
	builds, err := plan(ctx, cache, tree, wanted, progress)
	if err != nil {
		return nil, err
	}
	if err := run(ctx, cache, tree, builds, progress); err != nil {
		return nil, err
	}
	found := paths(names, builds)
	for name, path := range found {
		made.Store(madeBy{cache, name}, path)
	}
	return found, nil
}

// made holds the paths that Ensure has returned in this process, in whose life no source
// changes: to look for changes takes a second of a processor, and tests ask hundreds of times.
var made sync.Map

// madeBy is the key of an entry of made.
type madeBy struct {
	cache Cache
	name  string
}

// ensured returns the paths where Ensure has returned all of them before, and they are there.
func ensured(cache Cache, names []string) (paths map[string]string, all bool) {
	paths = make(map[string]string, len(names))
	for _, name := range names {
		path, ok := made.Load(madeBy{cache, name})
		if !ok {
			return nil, false
		}
		paths[name] = path.(string)
		if _, err := os.Stat(paths[name]); err != nil {
			return nil, false
		}
	}
	return paths, true
}

// All returns the name of every program that Ensure can build, sorted.
func All() []string {
	var names []string
	for _, g := range groups {
		names = append(names, g.names()...)
	}
	slices.Sort(names)
	return names
}

// groupsOf returns the groups that the named programs belong to, each once.
func groupsOf(names []string) ([]group, error) {
	for _, name := range names {
		if !slices.Contains(All(), name) {
			return nil, fmt.Errorf("no program is called %q; known are %q", name, All())
		}
	}
	var wanted []group
	for _, g := range groups {
		if slices.ContainsFunc(g.names(), func(name string) bool { return slices.Contains(names, name) }) {
			wanted = append(wanted, g)
		}
	}
	return wanted, nil
}

// build is a group with the folder of its programs in the cache.
type build struct {
	group
	key string
	dir string // empty until the programs are there
}

// plan looks up each group in the cache.
func plan(ctx context.Context, cache Cache, tree checkout, wanted []group, progress io.Writer) ([]build, error) {
	builds := make([]build, len(wanted))
	for i, g := range wanted {
		key, err := g.key(ctx, tree, progress)
		if err != nil {
			return nil, fmt.Errorf("look up %s: %w", g.title(), err)
		}
		dir, err := cache.Find(g.entry(), key)
		if err != nil {
			return nil, err
		}
		builds[i] = build{group: g, key: key, dir: dir}
	}
	return builds, nil
}

// run makes the builds that the cache doesn't hold, one after the other: a
// single go build already keeps every core busy.
func run(ctx context.Context, cache Cache, tree checkout, builds []build, w io.Writer) error {
	left := 0
	for _, b := range builds {
		if b.dir == "" {
			left++
		}
	}
	report := newReport(w, left, time.Now) //nolint:forbidigo // progress shows the time that passes for the person who waits
	for i := range builds {
		b := &builds[i]
		if b.dir != "" {
			continue
		}
		step := report.begin(b.group)
		dir, err := cache.Make(ctx, b.entry(), b.key, func(dir string) error {
			step.started()
			return b.build(ctx, tree, dir, step)
		})
		step.end(err)
		if err != nil {
			return err
		}
		b.dir = dir
	}
	return nil
}

// paths returns where each named program stands.
func paths(names []string, builds []build) map[string]string {
	found := make(map[string]string, len(names))
	for _, b := range builds {
		for _, p := range b.programs {
			if slices.Contains(names, p.name) {
				found[p.name] = filepath.Join(b.dir, p.file())
			}
		}
	}
	return found
}
