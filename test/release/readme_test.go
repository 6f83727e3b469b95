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
)

// readme is the README of the checkout.
func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// followReadme types the README's block on installing the plugin as it stands, but for
// where releases are, on a machine with nothing of it, and what it installs runs.
func followReadme(t *testing.T, bin string, r *Released) {
	t.Helper()
	_, block, _ := strings.Cut(readme(t), "\n**The plugin**")
	_, block, _ = strings.Cut(block, "```sh\n")
	block, _, found := strings.Cut(block, "\n```")
	address, _, served := strings.Cut(r.Archives[0].URI, "/"+r.Version+"/")
	block = strings.NewReplacer("https://github.com/kubectl-etcd/kubectl-etcd/releases/download", address, "linux_amd64", "linux_"+runtime.GOARCH).Replace(block)
	where, _, _ := strings.Cut(block, "\n")
	byKrew, byHand, both := strings.Cut(block, "\n\n")
	if !found || !served || !both || !strings.Contains(where, address) {
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

// named are the files of a release that the README names.
var named = regexp.MustCompile("\\$FROM/([a-z-]+\\.yaml)|`(etcd-webhook[a-z-]*\\.yaml)`")

// testReadme looks for them.
func testReadme(t *testing.T, release string) {
	t.Helper()
	all := named.FindAllStringSubmatch(readme(t), -1)
	for _, m := range all {
		if _, err := os.Stat(filepath.Join(release, m[1]+m[2])); err != nil {
			t.Error(err)
		}
	}
	if len(all) < 3 {
		t.Errorf("the README names only %d files of a release: %v", len(all), all)
	}
}
