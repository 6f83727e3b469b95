// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the ways of logging in that kubeconfigs name
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/alarm"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/check"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/completion"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/defrag"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/explain"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/list"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/member"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/moveleader"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/proxy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/scale"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/snapshot"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/status"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/version"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/webhook"
)

// Run is the whole program; it alone prints errors and chooses exit codes.
func Run(ctx context.Context, args []string, streams genericiooptions.IOStreams) int {
	log.SetLogger(klog.Background())
	a := app.New(streams)
	root := newRootCmd(a)
	if strings.HasPrefix(filepath.Base(os.Args[0]), "kubectl_complete-") {
		// kubectl runs this name to complete a line, with the line's words.
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	root.SetArgs(args)
	return report(ctx, a, root.ExecuteContext(ctx))
}

// The groups of the commands, in the order of the help.
const (
	groupInspect = "look"
	groupChange  = "change"
	groupBackup  = "backup"
	groupOther   = "plumbing"
)

func newRootCmd(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-etcd",
		Short: "See and operate etcd clusters in Kubernetes",
		Long: ui.Paragraphs(`
			See and operate the etcd clusters that run in Kubernetes: those of etcd-druid and of
			other operators, of Helm charts, and plain StatefulSets.

			A cluster is named by the object that owns it, NAME or TYPE/NAME, where TYPE is etcd,
			statefulset, service or pod. Members are reached through the API server, as kubectl
			port-forward does it; certificates and passwords come from the Secrets that their pods use.

			A command that changes something first prints what it will do and asks. Exit codes:
			0 done, 1 error, 2 refused by a rule, 3 unhealthy, 124 timed out, 130 interrupted.`),
		Example: ui.Examples(`
			# Which clusters are there, and how are they
			kubectl etcd list -A

			# One cluster on one screen
			kubectl etcd status etcd-main -n team-a`),
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl etcd"},
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	}
	root.SetIn(a.In)
	root.SetOut(a.Out)
	root.SetErr(a.ErrOut)
	root.AddGroup(
		&cobra.Group{ID: groupInspect, Title: "See:"},
		&cobra.Group{ID: groupChange, Title: "Change:"},
		&cobra.Group{ID: groupBackup, Title: "Back up:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	a.AddGlobalFlags(root)
	add(root, groupInspect,
		list.NewCommand(a),
		check.NewCommand(a),
		status.NewCommand(a),
	)
	add(root, groupChange,
		alarm.NewCommand(a),
		traffic.NewCutCommand(a),
		defrag.NewCommand(a),
		moveleader.NewCommand(a),
		traffic.NewRestoreCommand(a),
		member.NewCommand(a),
		scale.NewCommand(a),
	)
	add(root, groupBackup,
		snapshot.NewCommand(a),
	)
	add(root, groupOther,
		completion.NewCommand(a),
		explain.NewCommand(a),
		newOptionsCmd(a),
		proxy.NewCommand(a),
		version.NewCommand(a),
		webhook.NewCommand(a),
	)
	customize(a, root)
	return root
}

func add(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}
