// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	checkout := []debug.BuildSetting{
		{Key: "GOOS", Value: "linux"},
		{Key: "vcs.revision", Value: "1a2b"},
		{Key: "vcs.time", Value: "2026-11-20T12:00:00Z"},
		{Key: "vcs.modified", Value: "false"},
	}
	changed := []debug.BuildSetting{{Key: "vcs.revision", Value: "1a2b"}, {Key: "vcs.modified", Value: "true"}}
	for _, row := range []struct {
		name    string
		build   *debug.BuildInfo
		stamped string
		want    Info
	}{
		{name: "nothing is known", want: Info{Version: "(devel)"}},
		{name: "a folder without git", build: &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, want: Info{Version: "(devel)"}},
		{name: "the same, stamped", build: &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, stamped: "v1.2.3", want: Info{Version: "v1.2.3"}},
		{name: "go install", build: &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3", Sum: "h1:x"}}, want: Info{Version: "v1.2.3"}},
		{
			name: "a checkout", build: &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}, Settings: checkout},
			want: Info{Version: "v1.2.3", Commit: "1a2b", Date: "2026-11-20T12:00:00Z"},
		},
		{
			name: "a checkout with changes", build: &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3+dirty"}, Settings: changed},
			want: Info{Version: "v1.2.3+dirty", Commit: "1a2b", Modified: true},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			row.want.Go, row.want.Platform = runtime.Version(), runtime.GOOS+"/"+runtime.GOARCH
			if got := read(row.build, row.stamped); got != row.want {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}
