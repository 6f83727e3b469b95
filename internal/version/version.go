// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package version says what a program of this project was built from. It knows
// what the Go command wrote into the program, and nothing of releases.
package version

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// stamped is set by the linker where the Go command can't know the version: a
// packager who builds from a tarball, without git.
//
//	go build -ldflags "-X github.com/kubectl-etcd/kubectl-etcd/internal/version.stamped=v1.2.3"
var stamped string

// Info is what a program was built from.
type Info struct {
	// Version is a tag, or a pseudo-version of the commit as Go writes it, with
	// +dirty where the folder had changes; (devel) where nothing tells.
	Version string
	// Commit and Date are the revision and when it was committed, as RFC 3339.
	// They are empty where the program was built from a module's archive, as go
	// install does, or without git.
	Commit, Date string
	// Modified says that the folder had changes beside that commit.
	Modified bool
	// Go is the release that built it, Platform its operating system and architecture.
	Go, Platform string
}

// Get returns what this program was built from.
var Get = sync.OnceValue(func() Info {
	build, _ := debug.ReadBuildInfo()
	return read(build, stamped)
})

// read is Get for the given build; build may be nil.
func read(build *debug.BuildInfo, stamped string) Info {
	info := Info{Version: stamped, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if build != nil {
		if info.Version == "" {
			info.Version = build.Main.Version
		}
		for _, s := range build.Settings {
			switch s.Key {
			case "vcs.revision":
				info.Commit = s.Value
			case "vcs.time":
				info.Date = s.Value
			case "vcs.modified":
				info.Modified = s.Value == "true"
			}
		}
	}
	if info.Version == "" {
		info.Version = "(devel)"
	}
	return info
}
