// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package memberchange_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// execute runs a script in a real shell, in a folder with its own programs etcd and etcdctl, which
// record their arguments in log.
func execute(t *testing.T, script string, env ...string) (dir, log string) {
	t.Helper()
	dir = t.TempDir()
	for _, program := range []string{"etcd", "etcdctl"} {
		text := "#!/bin/sh\necho " + program + ` "$*" >> ` + dir + "/log\n"
		if err := os.WriteFile(filepath.Join(dir, program), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", strings.ReplaceAll(script, "@", dir))
	cmd.Dir, cmd.Env = dir, append([]string{"PATH=" + dir + ":/usr/bin:/bin"}, env...)
	_, _ = cmd.CombinedOutput() // how the script ends doesn't matter
	text, err := os.ReadFile(filepath.Join(dir, "log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return dir, string(text)
}

// changesOf returns what a script with variables changes.
func changesOf(script string, env ...corev1.EnvVar) []etcdconf.MemberChange {
	c := corev1.Container{Command: []string{"sh", "-c", script}, Env: env}
	return etcdconf.MemberChanges(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{c}}}, nil)
}

// TestMemberCommandsInAShell holds that each change of members that a real shell runs is found, however
// the script calls etcdctl, and that a list is none.
func TestMemberCommandsInAShell(t *testing.T) {
	t.Parallel()
	programs := []struct{ before, name string }{
		{"", "etcdctl"}, {"C=etcdctl\n", "$C"}, {"C='etcdctl --cacert=/c'\n", "$C"}, {"E=x\nC=\"etcdctl --endpoints=$E\"\n", "$C"},
		{"c() { etcdctl -w json \"$@\"; }\n", "c"}, {"", "$POD"}, {"D=@\n", "$D/etcdctl"}, {"D=@\n", `"$D"/etcdctl`}, {"export C=etcdctl\n", "${C}"},
	}
	// C is the program, and V its verb.
	forms := []string{
		"C member V $ID", "true && C --x member -w json V a", "X=$(C member V a)", "C member V a & wait", "if C member V a; then :; fi", "W=V\nC member $W a",
		"echo a | xargs C member V", "echo V a | xargs C member", "echo a | cat | xargs -n 1 C member V", "trap 'C member V a' EXIT", `trap "C member V $ID" TERM; kill -TERM $$`,
		"f() { C member V a; }\ntrap f EXIT", `eval "C member V $ID"`, "eval C member V $ID", "eval 'C member V a'", `sh -c "C member V $ID"`, `sh -c 'C member V "$1"' _ a`,
		`sh -c '"$@"' _ C member V a`, "env A=1 C member V a", `env -S "C member V $ID"`, "nice -n 1 C member V a", "timeout 5 C member V a", `find . -maxdepth 0 -exec C member V {} \;`,
		`find . -maxdepth 0 -exec sh -c "C member V a" \;`, `echo "C member V $ID" | sh`, "sh <<E\nC member V $ID\nE", `f() { eval "$1"; }` + "\n" + `f "C member V a"`,
		`f() { "$@"; }` + "\nf C member V a", `f() { sh -c "$*"; }` + "\nf C member V a", "for i in 1 2; do C member V $i; done", "command C member V a", "(C member V a)",
		`A="C member V a"; eval "$A"`, `A="C member V a"; $A`, `A="C member V a"; sh -c "$A"`, `A="C member V a"; trap "$A" EXIT`, `A="C member"; B="V a"; eval "$A $B"`,
		`if [ -n "$PATH" ]; then A="C member V a"; fi; eval "$A"`, `f() { local A="C member V a"; eval "$A"; }; f`, `f() { A=$1; $A; }` + "\nf \"C member V a\"",
		`for A in "C member V a"; do $A; done`, `A=$(echo C member V a); $A`, `A="C member V a"; echo "$A" | sh`, "A=\"C member V a\"\nsh <<E\n$A\nE", `set -- C member V a; "$@"`,
		`f() { C member "$1" a; }` + "\nf V", `export A="C member V a"; sh -c 'eval "$A"'`, `env A="C member V a" sh -c '$A'`, `A="C member"; A="$A V"; $A a`,
	}
	ran := 0
	for i, p := range programs {
		for j, form := range forms {
			for _, verb := range []string{"add", "remove", "update", "promote", "list"} {
				script := p.before + strings.NewReplacer("C", p.name, "V", verb).Replace(form)
				found := changesOf(script, corev1.EnvVar{Name: "POD", Value: "etcdctl --cert=/c"}, corev1.EnvVar{Name: "ID", Value: ""})
				has := slices.ContainsFunc(found, func(m etcdconf.MemberChange) bool { return m.Verb == verb })
				if verb == "list" && len(found) > 0 || verb != "list" && len(found) > 1 {
					t.Errorf("%s: %v", script, found)
				}
				if verb != "remove" || (i+j)%3 > 0 {
					continue // a shell takes milliseconds
				}
				if _, log := execute(t, script, "POD=etcdctl --cert=/c"); strings.Contains(log, verb) {
					ran++
					if !has {
						t.Errorf("a shell runs member %s, which isn't found in:\n%s", verb, script)
					}
				}
			}
		}
	}
	if all := len(programs) * len(forms) / 3; ran < all*3/4 {
		t.Errorf("a shell ran etcdctl in %d of %d scripts, which tests little", ran, all)
	}
}

// TestWipesInAShell holds that a script is found to delete a member's data if and only if it does so in
// a real shell, and not where it deletes other files in the same folder.
func TestWipesInAShell(t *testing.T) {
	t.Parallel()
	folders := []struct{ before, name string }{
		{"", "@/data"}, {"", "$ETCD_DATA_DIR"}, {"", "${ETCD_DATA_DIR:?}"}, {"DIR=@/data\n", "$DIR"}, {"data_dir=$(echo @/data)\n", "${data_dir%/}"},
		{"D=\"$ETCD_DATA_DIR\"\n", "$D"}, {"DATA=@/data\n", "${DATA}"},
	}
	// P is the folder.
	forms := []string{
		`rm -rf "P"`, "rm -r P/member", `rm -Rf -- "P/member"`, `rm -rf "P"/*`, "rm -f P/member/wal/*", "rm -f P/member/snap/db", "rm -rf P/member/wal", "sh -c \"rm -rf P/member\"",
		`eval "rm -rf P/member"`, "trap 'rm -rf P/member' EXIT", "find P -mindepth 1 -delete", "find P -mindepth 1 -exec rm -rf {} +", `find P -mindepth 1 ! -name lost+found -exec rm -rf {} +`,
		`find P -mindepth 1 -maxdepth 1 -not -name x.lock | xargs rm -rf`, "ls -d P/* | xargs rm -rf", "find P -name '*.wal' -delete", "find P -name member -exec rm -rf {} +",
		"mv P/member @/away", "mv -t @ P/member", "(cd P && rm -rf ./*)", "cd P\nrm -rf member", `for f in P/*; do rm -rf "$f"; done`, `f() { rm -rf "$1"; }` + "\nf P/member",
		"nice -n 1 rm -rf P", "env A=1 rm -rf P",

		"rm -rf P/lost+found", "rm -f P/x.lock", `rm -rf "P/x.lock" "P"/tmp/*`, "rm -rf P/snapshots", "rm -rf P/snapshots/*", "rm -f P/member/snap/a.tmp", "rm -rf P/member/snap/*.tmp",
		"find P -name x.lock -delete", "find P -name '*.tmp' -exec rm -f {} +", "find P -empty -delete", "mv P/x.lock @/away", `echo "rm -rf P"`, "ls P", "rm -rf @/other/*", "cd P\nrm -rf tmp",
		"find P/snapshots -type f -delete", "touch P/member/x", "mv @/other/member P/snapshots", "rm P/x.lock || rm -f P/snapshots/s.db", "find P -type f -name s.db | xargs rm -f",
	}
	const layout = "mkdir -p @/data/member/snap @/data/member/wal @/data/lost+found @/data/snapshots @/data/tmp @/other/member\n" +
		"for f in member/snap/db member/snap/a.tmp member/wal/0.wal x.lock snapshots/s.db tmp/t; do echo x > @/data/$f; done\nexport ETCD_DATA_DIR=@/data\n"
	for j, form := range forms {
		lost := false
		for i := range folders {
			// Each form once in a shell: what a folder is called changes nothing there.
			folder := folders[(i+j)%len(folders)]
			script := folder.before + strings.ReplaceAll(form, "P", folder.name)
			if i == 0 {
				dir, _ := execute(t, layout+script)
				for _, file := range []string{"snap/db", "wal/0.wal"} {
					_, err := os.Stat(filepath.Join(dir, "data/member", file))
					lost = lost || err != nil
				}
			}
			found := changesOf(strings.ReplaceAll(script, "@", "/v"), corev1.EnvVar{Name: "ETCD_DATA_DIR", Value: "/v/data"})
			if (len(found) > 0) != lost {
				t.Errorf("a shell deletes the data: %t, and %v is found in:\n%s", lost, found, script)
			}
		}
	}
}
