// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package cli is the plugin kubectl etcd: its root command, help, completion and exit codes. Each
// command is a package below it.
package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the authentication plugins of kubeconfigs
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/alarm"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/check"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/completion"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/cutclienttraffic"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/defrag"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/diagnose"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/drainplan"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/explain"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/list"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/member"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/moveleader"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/proxy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/recover"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/restart"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/restoreclienttraffic"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/scale"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/snapshot"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/status"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/sweep"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/version"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/volume"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/webhook"
)

// Run runs the plugin and returns its exit code. No other function prints errors or chooses
// exit codes.
func Run(ctx context.Context, args []string, streams genericiooptions.IOStreams) int {
	log.SetLogger(klog.Background())
	a := app.New(streams)
	root := newRootCmd(a)
	if strings.HasPrefix(filepath.Base(os.Args[0]), "kubectl_complete-") {
		// kubectl runs this name to complete a command line, which is in args.
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	root.SetArgs(args)
	return report(ctx, a, root.ExecuteContext(ctx))
}

// The groups of commands in help texts, in their order.
const (
	groupInspect = "inspect"
	groupChange  = "change"
	groupBackup  = "backup"
	groupOther   = "other"
)

func newRootCmd(a *app.App) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-etcd",
		Short: "Inspect and operate etcd clusters in Kubernetes",
		Long: ui.Paragraphs(`
			Inspect and operate etcd clusters that run in Kubernetes: clusters of etcd-druid and
			other operators, of Helm charts, and plain StatefulSets.

			To select a cluster, use NAME or TYPE/NAME of the object that owns it, or of a Service or a
			pod of the cluster. TYPE is etcd, statefulset, deployment, daemonset, service, pod or
			etcdcluster. The plugin connects to members through the API server, as kubectl port-forward
			does. It reads certificates and passwords from the Secrets that the pods use.

			A command that changes a cluster first prints its plan and asks for confirmation.

			Exit codes: 0 done, 1 error, 2 refused by a rule, 3 unhealthy, 4 done but not
			cleaned up, 124 timed out, 130 interrupted.`),
		Example: ui.Examples(`
			# List all clusters with their health
			kubectl etcd list -A

			# Show one cluster
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
		&cobra.Group{ID: groupInspect, Title: "Inspect:"},
		&cobra.Group{ID: groupChange, Title: "Change:"},
		&cobra.Group{ID: groupBackup, Title: "Back up:"},
		&cobra.Group{ID: groupOther, Title: "Other:"},
	)
	a.AddGlobalFlags(root)
	addCommands(a, root)
	customize(a, root)
	return root
}

// addCommands adds all commands, in the order of the help text.
func addCommands(a *app.App, root *cobra.Command) {
	add(root, groupInspect,
		list.NewCommand(a),
		check.NewCommand(a),
		diagnose.NewCommand(a),
		status.NewCommand(a),
	)
	add(root, groupChange,
		alarm.NewCommand(a),
		cutclienttraffic.NewCommand(a),
		defrag.NewCommand(a),
		drainplan.NewCommand(a),
		moveleader.NewCommand(a),
		restoreclienttraffic.NewCommand(a),
		member.NewCommand(a),
		restart.NewCommand(a),
		scale.NewCommand(a),
		sweep.NewCommand(a),
		volume.NewCommand(a),
	)
	add(root, groupBackup,
		recover.NewCommand(a),
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
}

func add(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}
