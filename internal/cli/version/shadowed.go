// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"debug/buildinfo"
	"os"
	"path/filepath"
	"runtime"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
)

// PluginName is the program that kubectl searches in PATH. Other projects also use this name,
// see docs/decisions/name.md.
const PluginName = "kubectl-etcd"

// warnOfShadowingPlugins warns about other programs in PATH with the plugin's name. It names the
// one that kubectl runs.
func warnOfShadowingPlugins(a *app.App) {
	self, err := os.Executable()
	if err != nil {
		return
	}
	first, others := shadowingPlugins(filepath.SplitList(os.Getenv("PATH")), self)
	switch {
	case len(others) == 0:
	case others[0] == first:
		a.Warn("kubectl etcd runs %s, not this program: it comes first in PATH. This is %s.", describe(first), self)
	default:
		for _, other := range others {
			a.Warn("%s is also in PATH. kubectl etcd runs %s, which comes first.", describe(other), first)
		}
	}
}

// shadowingPlugins returns the program that kubectl runs for the plugin, and the programs in the
// folders that have its name but are not self or a link to self. It skips folders that it can't
// read.
func shadowingPlugins(folders []string, self string) (first string, others []string) {
	name := PluginName
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	me, err := os.Stat(self)
	if err != nil {
		return "", nil
	}
	seen := []os.FileInfo{me}
	for _, folder := range folders {
		path := filepath.Join(folder, name)
		info, err := os.Stat(path) //nolint:gosec // PATH is the user's own
		if err != nil || info.IsDir() || runtime.GOOS != "windows" && info.Mode()&0o111 == 0 {
			continue
		}
		if first == "" {
			first = path
		}
		known := false
		for _, s := range seen {
			known = known || os.SameFile(s, info)
		}
		if !known {
			seen, others = append(seen, info), append(others, path)
		}
	}
	return first, others
}

// describe returns the path of a program and, for a Go program, its main package and version. It
// reads the file and does not run it.
func describe(path string) string {
	info, err := buildinfo.ReadFile(path)
	if err != nil || info.Path == "" {
		return path
	}
	return path + " (" + info.Path + " " + info.Main.Version + ")"
}
