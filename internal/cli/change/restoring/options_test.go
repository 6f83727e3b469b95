// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
)

// TestPinnedFlags checks that printed commands select the same API server, even if the kubeconfig
// changes.
func TestPinnedFlags(t *testing.T) {
	t.Parallel()
	const contexts = "apiVersion: v1\nkind: Config\ncurrent-context: desk\ncontexts: [{name: desk, context: {cluster: c, user: u}}, {name: the lab, context: {cluster: c, user: u}}]\n"
	for _, row := range []struct {
		config, args string
		given, want  string
		refused      bool
	}{
		{config: contexts, want: " --context desk"},
		{config: "apiVersion: v1\nkind: Config\n"},
		{config: contexts, args: "--context=the lab", given: " --context 'the lab'", want: " --context 'the lab'"},
		{
			config: contexts, args: "--as=ann;--as-group=ops;--as-group=the team;--server=https://there:6443;--user=u;--insecure-skip-tls-verify",
			given: " --server https://there:6443 --user u --as ann --as-group ops --as-group 'the team' --insecure-skip-tls-verify",
			want:  " --context desk --server https://there:6443 --user u --as ann --as-group ops --as-group 'the team' --insecure-skip-tls-verify",
		},
		{config: contexts, args: "--token=secret", refused: true},
	} {
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(row.config), 0o600); err != nil {
			t.Fatal(err)
		}
		a := app.New(genericiooptions.IOStreams{})
		root := &cobra.Command{}
		a.AddGlobalFlags(root)
		if err := root.ParseFlags(append(strings.FieldsFunc(row.args, func(c rune) bool { return c == ';' }), "--kubeconfig="+file)); err != nil {
			t.Fatal(err)
		}
		without := func(flags string) string { return strings.ReplaceAll(flags, " --kubeconfig "+file, "") }
		if given := without(a.ContextFlags()); given != row.given {
			t.Errorf("%s: given are %q, want %q", row.args, given, row.given)
		}
		pinned, err := pinnedFlags(a)
		if without(pinned) != row.want || app.Is[*app.RefusedError](err) != row.refused {
			t.Errorf("%s: pinned to %q (%v), want %q", row.args, pinned, err, row.want)
		}
	}
}

// TestContinues: a flag that differs from the one with which the restore began is refused, if it was given.
func TestContinues(t *testing.T) {
	t.Parallel()
	rec := progress.Record{Bump: 7, Size: 3, KeepFor: time.Hour}
	for args, want := range map[string]string{
		"": "", "--bump-revision=7 --replicas=3 --keep-old-for=60m": "", "--replicas=0": "",
		"--bump-revision=0": "--bump-revision 7, which can't change to 0", "--bump-revision=1000000000": "--bump-revision 7",
		"--replicas=5": "--replicas 3, which can't change to 5", "--keep-old-for=2h": "--keep-old-for 1h, which can't change to 2h", "--keep-old-for=0": "--keep-old-for 1h",
		"--tool=etcdutl --helper-image=alpine": "",
	} {
		var o PlanOptions
		cmd := &cobra.Command{}
		AddFlags(cmd, &o)
		if err := cmd.ParseFlags(strings.Fields(args)); err != nil {
			t.Fatal(err)
		}
		if err := o.continues(&rec); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
}
