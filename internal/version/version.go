// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package version reports what a program of this project was built from. It reads what the Go
// command wrote into the program, and doesn't depend on releases.
package version

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// stamped is set by the linker if the Go command can't find the version, as when a packager
// builds from a tarball without git.
//
//	go build -ldflags "-X github.com/kubectl-etcd/kubectl-etcd/internal/version.stamped=v1.2.3"
var stamped string

// Info is what a program was built from.
type Info struct {
	// Version is a tag, or Go's pseudo-version of the commit. It ends in +dirty if the folder
	// had changes, and is (devel) if nothing is known.
	Version string
	// Commit is the revision, and Date its time in RFC 3339. They are empty if the program was
	// built without git or from a module's archive, as go install does.
	Commit, Date string
	// Modified reports whether the folder had uncommitted changes.
	Modified bool
	// Go is the Go release. Platform is the operating system and the architecture.
	Go, Platform string
}

// Get returns what this program was built from.
var Get = sync.OnceValue(func() Info {
	build, _ := debug.ReadBuildInfo()
	return read(build, stamped)
})

// read returns the Info of a build, which may be nil.
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
