// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// host is this machine's platform, for tests that run what they build.
var host = []Platform{{OS: "linux", Arch: runtime.GOARCH}}

// TestSameBytes makes one commit's whole release twice, by make without a network, and from
// a checkout with other times and changes that no one committed, and compares every file.
//
// What Go has compiled once it takes from its cache, so a shared one would prove little about
// the compiler. The second release gets an empty cache for this machine's platform: both
// programs have one, and most of their packages are the same, so that this proves it for
// the plugin and the image at the price of one compilation. The other platforms share
// the first one's cache: only what comes after the compiler is done twice for them.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	bin := userPrograms(t)
	first, printed := makeOffline(t)
	second := filepath.Join(t.TempDir(), "dist")
	o := Options{Source: clone(t), Out: second, Progress: t.Output(), environment: anotherMachine(t)}
	disturb(t, o.Source)
	made, err := Make(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(made.Version, "dirty") {
		t.Fatalf("a clone's version is %s", made.Version)
	}
	out, err := exec.CommandContext(t.Context(), "diff", "--recursive", first, second).CombinedOutput()
	if err != nil {
		t.Errorf("two releases of one commit differ: %v\n%s", err, out)
	}
	sums := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", "checksums.txt")
	sums.Dir = first
	if out, err := sums.CombinedOutput(); err != nil {
		t.Errorf("sha256sum --check: %v\n%s", err, out)
	}
	t.Run("images", func(t *testing.T) { testImages(t, first, made.Version) })
	t.Run("a stamped image", func(t *testing.T) { testStamped(t, o.Source) })
	t.Run("what the pages name", func(t *testing.T) { testNamed(t, first) })
	t.Run("bill of materials", func(t *testing.T) { testBOM(t, first) })
	t.Run("the command that was printed", func(t *testing.T) { typePrinted(t, bin, printed, made) })
	t.Run("validate-krew-manifest installs every platform", func(t *testing.T) { validateManifest(t, bin, made) })
}

// makeOffline makes a release as a maintainer does, in a clone, and returns its folder and
// what make printed. Of networks there is none, not even the machine's own: the modules are
// all that it needs, and they are there.
func makeOffline(t *testing.T) (dist, printed string) {
	t.Helper()
	source := clone(t)
	modules := exec.CommandContext(t.Context(), "go", "mod", "download")
	modules.Dir = source
	if out, err := modules.CombinedOutput(); err != nil {
		t.Fatalf("go mod download: %v\n%s", err, out)
	}
	release := exec.CommandContext(t.Context(), "unshare", "--net", "make", "release-snapshot")
	release.Dir = source
	// The variables of this test's own make are not for that one.
	release.Env = append(os.Environ(), "GOPROXY=off", "MAKEFLAGS=", "VERSION=")
	release.Stderr = t.Output()
	out, err := release.Output()
	if err != nil {
		t.Fatalf("make release-snapshot without a network, which takes root: %v\n%s", err, out)
	}
	return filepath.Join(source, "dist"), string(out)
}

// anotherMachine lets this machine's platform be compiled with nothing that was before, and
// every platform where a user has settings of their own.
func anotherMachine(t *testing.T) func(Platform) []string {
	t.Helper()
	dir := t.TempDir()
	settings := filepath.Join(dir, "env")
	if err := os.WriteFile(settings, []byte("GOFLAGS=-tags=theirs\nGOEXPERIMENT=fieldtrack\nGOAMD64=v3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(p Platform) []string {
		theirs := []string{"GOENV=" + settings}
		if p == host[0] {
			theirs = append(theirs, "GOCACHE="+filepath.Join(dir, "cache"))
		}
		return theirs
	}
}

// clone returns a folder with what is committed.
func clone(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := cloneInto(t.Context(), dir, "../.."); err != nil {
		t.Fatal(err)
	}
	return dir
}

// disturb changes what a release must not depend on.
func disturb(t *testing.T, source string) {
	t.Helper()
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(source, "LICENSE"), later, later); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"README.md", "cmd/kubectl-etcd/uncommitted.go"} {
		if err := os.WriteFile(filepath.Join(source, path), []byte("package main\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// testBOM compares the bills with the output of the Go command for the programs.
func testBOM(t *testing.T, release string) {
	t.Helper()
	bills, err := filepath.Glob(filepath.Join(release, "*.cdx.json"))
	if err != nil || len(bills) != len(AllPlugins())+len(AllImages()) {
		t.Fatalf("there are the bills %q: %v", bills, err)
	}
	for _, path := range bills {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		title := strings.Split(strings.TrimSuffix(filepath.Base(path), ".cdx.json"), "_") // name, version, platform
		p := program{name: title[0], platform: Platform{OS: title[2], Arch: title[3]}}
		name, program := p.name, filepath.Join(release, programsFolder, title[2]+"_"+title[3], p.file())
		list := exec.CommandContext(t.Context(), "go", "version", "-m", program)
		list.Dir = release // outside of every module, as its own decide nothing here
		out, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		linked := 0
		for line := range strings.Lines(string(out)) {
			texts := strings.Fields(line)
			if len(texts) > 2 && texts[0] == "dep" {
				linked++
				if !bytes.Contains(text, []byte(`"pkg:golang/`+texts[1]+"@"+strings.ReplaceAll(texts[2], "+", "%2B")+`"`)) {
					t.Errorf("%s lacks %s %s", filepath.Base(path), texts[1], texts[2])
				}
			}
		}
		if linked < 50 {
			t.Errorf("go version -m names %d modules of %s", linked, name)
		}
	}
}

// TestClear holds that a release removes nothing but a release.
func TestClear(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := clear(dir); err != nil {
		t.Errorf("an empty folder: %v", err)
	}
	if err := clear(dir); err != nil {
		t.Errorf("no folder: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, programsFolder), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := clear(dir); err != nil {
		t.Errorf("an earlier release: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "thesis"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := clear(dir); err == nil {
		t.Error("another user's folder was emptied")
	}
}
