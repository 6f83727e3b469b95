// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package release

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/install"
)

// page is a page of the checkout.
func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// followReadme types the README's block on installing the plugin as it stands, but for
// where releases are, on a machine with nothing of it, and what it installs runs.
func followReadme(t *testing.T, bin string, r *Released) {
	t.Helper()
	block, err := install.ShellBlock(filepath.Join("..", "..", "README.md"), "\n**The plugin**")
	if err != nil {
		t.Fatal(err)
	}
	address, _, served := strings.Cut(r.Archives[0].URI, "/"+r.Version+"/")
	block = strings.NewReplacer("https://github.com/kubectl-etcd/kubectl-etcd/releases/download", address, "linux_amd64", "linux_"+runtime.GOARCH).Replace(block)
	where, _, _ := strings.Cut(block, "\n")
	byKrew, byHand, both := strings.Cut(block, "\n\n")
	if !served || !both || !strings.Contains(where, address) {
		t.Fatalf("the README's block isn't what it was:\n%s", block)
	}
	k := newUser(t, bin)
	k.run(t, "sh", "-ec", byKrew)
	k.wantVersion(t, r)
	k.wantGone(t)

	local := mayWrite(t, k)
	k.run(t, "sh", "-ec", where+"\n"+byHand)
	if _, err := os.Stat(filepath.Join(local, "kubectl-etcd")); err != nil {
		t.Fatal(err)
	}
	k.wantVersion(t, r)
}

// mayWrite gives a user a sudo that writes into a folder of their own, which is in their
// PATH in place of /usr/local/bin.
func mayWrite(t *testing.T, k *user) (local string) {
	t.Helper()
	local = filepath.Join(k.home, "local")
	if err := os.Mkdir(local, 0o700); err != nil {
		t.Fatal(err)
	}
	sudo := "#!/bin/sh\ntest \"$1 $3\" = 'mv /usr/local/bin/' && exec mv \"$2\" " + local + "/\n"
	if err := os.WriteFile(filepath.Join(local, "sudo"), []byte(sudo), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, v := range k.env {
		if path, is := strings.CutPrefix(v, "PATH="); is {
			k.env[i] = "PATH=" + local + ":" + path
		}
	}
	return local
}

// addressed are the files of a release that a page gives the address of.
var addressed = regexp.MustCompile(`(?:\$FROM|releases/download/v[0-9.]+)/([a-z-]+\.yaml)`)

// filed are the files in a line of the table of docs/install.md.
var filed = regexp.MustCompile("`([a-z-]+\\.[a-z]+)`")

// testNamed looks for each file that the pages name.
func testNamed(t *testing.T, release string) {
	t.Helper()
	readme, install := page(t, "README.md"), page(t, "docs/install.md")
	all := addressed.FindAllStringSubmatch(readme+install, -1)
	_, table, _ := strings.Cut(install, "\n## The files of a release\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 2 {
			all = append(all, filed.FindAllStringSubmatch(cells[1], -1)...)
		}
	}
	for _, m := range all {
		if _, err := os.Stat(filepath.Join(release, m[1])); err != nil {
			t.Error(err)
		}
	}
	if len(all) < 12 {
		t.Errorf("the pages name only %d files of a release: %v", len(all), all)
	}
}
