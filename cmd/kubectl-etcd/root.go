// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	_ "k8s.io/client-go/plugin/pkg/client/auth" // the ways of logging in that kubeconfigs name
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// run is the whole program; it alone prints errors and chooses exit codes.
func run(ctx context.Context, args []string, streams genericiooptions.IOStreams) int {
	log.SetLogger(klog.Background())
	e := newEnv(streams)
	root := newRootCmd(e)
	if strings.HasPrefix(filepath.Base(os.Args[0]), "kubectl_complete-") {
		// kubectl runs this name to complete a line, with the line's words.
		args = append([]string{cobra.ShellCompRequestCmd}, args...)
	}
	root.SetArgs(args)
	return e.report(ctx, root.ExecuteContext(ctx))
}

// report prints an error and returns its exit code.
func (e *env) report(ctx context.Context, err error) int {
	code, word := outcome(ctx, err)
	if word == "" {
		return code // nothing more is to be said
	}
	fmt.Fprintf(e.ErrOut, "%s %v\n", e.paint(e.ErrOut, red, word+":"), err)
	return code
}

// The groups of the commands, in the order of the help.
const (
	groupLook     = "look"
	groupChange   = "change"
	groupBackup   = "backup"
	groupPlumbing = "plumbing"
)

func newRootCmd(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-etcd",
		Short: "See and operate etcd clusters in Kubernetes",
		Long: paragraphs(`
			See and operate the etcd clusters that run in Kubernetes: those of etcd-druid and of
			other operators, of Helm charts, and plain StatefulSets.

			A cluster is named by the object that owns it, NAME or TYPE/NAME, where TYPE is etcd,
			statefulset, service or pod. Members are reached through the API server, as kubectl
			port-forward does it; certificates and passwords come from the Secrets that their pods use.

			A command that changes something first prints what it will do and asks. Exit codes:
			0 done, 1 error, 2 refused by a rule, 3 unhealthy, 124 timed out, 130 interrupted.`),
		Example: examples(`
			# Which clusters are there, and how are they
			kubectl etcd list -A

			# One cluster on one screen
			kubectl etcd status etcd-main -n team-a`),
		Annotations:       map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl etcd"},
		SilenceErrors:     true,
		SilenceUsage:      true,
		DisableAutoGenTag: true,
	}
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.ErrOut)
	root.AddGroup(
		&cobra.Group{ID: groupLook, Title: "See:"},
		&cobra.Group{ID: groupChange, Title: "Change:"},
		&cobra.Group{ID: groupBackup, Title: "Back up:"},
		&cobra.Group{ID: groupPlumbing, Title: "Other:"},
	)
	addGlobalFlags(e, root)
	add(root, groupLook,
		newListCmd(e),
		newCheckCmd(e),
		newStatusCmd(e),
	)
	add(root, groupChange,
		newAlarmCmd(e),
		newCutClientTrafficCmd(e),
		newDefragCmd(e),
		newMoveLeaderCmd(e),
		newRestoreClientTrafficCmd(e),
		newMemberCmd(e),
		newScaleCmd(e),
	)
	add(root, groupBackup,
		newSnapshotCmd(e),
	)
	add(root, groupPlumbing,
		newCompletionCmd(e),
		newExplainCmd(e),
		newOptionsCmd(e),
		newProxyCmd(e),
		newVersionCmd(e),
		newWebhookCmd(e),
	)
	finish(e, root)
	return root
}

func add(root *cobra.Command, group string, commands ...*cobra.Command) {
	for _, c := range commands {
		c.GroupID = group
		root.AddCommand(c)
	}
}
