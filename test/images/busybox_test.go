// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package images

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

func TestIsStatic(t *testing.T) {
	t.Parallel()
	built, err := programs.Ensure(t.Context(), programs.Cache{Dir: t.TempDir()}, []string{"pause"}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(t.TempDir(), "script")
	write(t, script, "#!/bin/sh\n")
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{built["pause"]: true, script: false, shell: false} {
		if got := isStatic(path); got != want {
			t.Errorf("%s needs no library: %t, want %t", path, got, want)
		}
	}
}

// TestBusybox runs the busybox that the images get.
func TestBusybox(t *testing.T) {
	t.Parallel()
	path, err := ensureBusybox(t.Context(), programs.Cache{}, t.Output())
	if err != nil {
		t.Fatal(err)
	}
	files, err := busyboxFiles(path)
	if err != nil {
		t.Fatal(err)
	}
	links := map[string]bool{}
	for _, f := range files {
		links[f.path] = f.link != "" || f.from != ""
	}
	for _, tool := range []string{"/bin/busybox", "/bin/sh", "/bin/chown", "/bin/wget", "/bin/nc"} {
		if !links[tool] {
			t.Errorf("the image has no %s", tool)
		}
	}
}
