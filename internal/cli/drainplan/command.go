// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package drainplan implements kubectl etcd drain-plan.
package drainplan

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/drain"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/drain/kubectl"
)

// options are the flags of drain-plan. Those for pods have the names that kubectl drain gives them.
type options struct {
	change.Flags

	pods     kubectl.Flags
	selector string
	// run drains the nodes.
	run bool
}

// NewCommand returns the command kubectl etcd drain-plan.
func NewCommand(a *app.App) *cobra.Command {
	o := options{Flags: change.Flags{Timeout: time.Hour}}
	cmd := &cobra.Command{
		Use:   "drain-plan NODE... | -l SELECTOR",
		Short: "Plan drains of several nodes, and run them with --run",
		Long: ui.Paragraphs(`
			Show which nodes can be drained together, in which waves, and which nodes are blocked, and why.
			The plan covers all etcd clusters that you may see. A wave leaves each cluster with a quorum of
			healthy voters, and each disruption budget allows its evictions. Every eviction is judged as
			the eviction guard of etcd-webhook judges it, whether etcd-webhook is installed or not. Without
			--run, nothing is changed.

			The members of a wave must be ready again before the next wave. The plan shows if a
			member can run on no other node. Then its node must be uncordoned first.

			Pods that are not members are judged by the code of kubectl drain: pods of DaemonSets,
			pods with data in an emptyDir, and pods without a controller need the same flags as there.

			--run drains the nodes: it cordons all of them, and evicts the members and then the other
			pods, wave by wave. It evaluates the rules again before each wave and each eviction of a
			member. It never deletes a pod, and never uncordons a node: do that yourself after the
			maintenance. If the next wave needs you, for example to uncordon a node, it stops and prints how
			to go on. After an interruption, the nodes stay cordoned.

			The exit code is 2 if a node can't be drained, and 1 if clusters may be missing because you
			lack permissions.`),
		Example: ui.Examples(`
			# Show the waves for three nodes
			kubectl etcd drain-plan node-1 node-2 node-3 --ignore-daemonsets

			# Show the waves for a pool of nodes, as JSON
			kubectl etcd drain-plan -l pool=old --ignore-daemonsets -o json

			# Drain the nodes of the pool, wave by wave
			kubectl etcd drain-plan -l pool=old --ignore-daemonsets --delete-emptydir-data --run --reason "new machine type"`),
		Args: func(cmd *cobra.Command, args []string) error { return o.validate(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			return run(cmd.Context(), a, cmd, args, o)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.selector, "selector", "l", "", "Drain the nodes that have these labels")
	flags.BoolVar(&o.run, "run", false, "Drain the nodes, wave by wave")
	flags.BoolVar(&o.pods.IgnoreDaemonSets, "ignore-daemonsets", false, "Ignore pods of DaemonSets, which would be created again at once")
	flags.BoolVar(&o.pods.DeleteEmptyDirData, "delete-emptydir-data", false, "Also evict pods with an emptyDir, whose data is deleted with them")
	flags.BoolVar(&o.pods.Force, "force", false, "Also evict pods without a controller, which are not created again")
	flags.IntVar(&o.pods.GracePeriod, "grace-period", -1, "Seconds that each pod gets to stop. If negative, the value of the pod is used")
	flags.StringVar(&o.pods.PodSelector, "pod-selector", "", "Only evict pods that have these labels")
	ui.AddOutputFlags(cmd)
	change.AddFlags(cmd, &o.Flags)
	cmd.MarkFlagsMutuallyExclusive("run", "output")
	return cmd
}

// validate checks what needs no connection to the API server.
func (o *options) validate(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0 && o.selector == "":
		return fmt.Errorf("name the nodes, or select them with -l")
	case len(args) > 0 && o.selector != "":
		return fmt.Errorf("NODE can't be used together with -l")
	}
	return change.OnlyWith(cmd, "run")
}

func run(ctx context.Context, a *app.App, cmd *cobra.Command, args []string, o options) error {
	job, err := newJob(a, o)
	if err != nil {
		return err
	}
	nodes, err := job.NodesOf(ctx, args, o.selector)
	if err != nil {
		return err
	}
	if o.run {
		return drainNodes(ctx, a, job, nodes, o)
	}
	s, err := job.Observe(ctx, nodes)
	if err != nil {
		return drain.Existing(ctx, job.Kube, err)
	}
	plan := s.Output()
	if err := a.Print(cmd, plan, render.DrainPlan(a.Console, plan)); err != nil {
		return err
	}
	return s.Verdict()
}

// newJob returns the job of the command.
func newJob(a *app.App, o options) (*drain.Job, error) {
	kube, err := a.Client()
	if err != nil {
		return nil, err
	}
	reader, err := a.Reader()
	if err != nil {
		return nil, err
	}
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	code, err := kubectl.New(config, o.pods, a.ErrOut)
	if err != nil {
		return nil, err
	}
	namespace, err := a.Namespace()
	if err != nil {
		return nil, err
	}
	return &drain.Job{
		Kube: kube, Reader: reader, Kubectl: code, Clock: a.Clock, Namespace: namespace, GracePeriod: o.pods.GracePeriod,
		Args: o.pods.AsArgs(), Flags: a.ContextFlags(), Warnf: a.Warn,
		Logf: func(format string, args ...any) { change.PrintStep(a, format, args...) },
	}, nil
}
