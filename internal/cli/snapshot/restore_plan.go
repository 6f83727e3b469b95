// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// restorePlanOptions are the flags of snapshot restore-plan.
type restorePlanOptions struct {
	bump     int64
	replicas int32
	image    string
	tool     string
	// keep is how long the old data is kept, 0 for no limit.
	keep time.Duration
}

func newRestorePlanCommand(a *app.App) *cobra.Command {
	var o restorePlanOptions
	cmd := &cobra.Command{
		Use:   "restore-plan FILE TARGET",
		Short: "Print the steps to restore a snapshot into a cluster",
		Long: ui.Paragraphs(`
			Print the steps to restore a snapshot into a cluster. The commands contain the names, URLs,
			directories, volumes and users of its members. The command itself changes nothing.

			For a StatefulSet, the steps stop all members, create data directories on your machine, copy
			them into the volumes, keep the old data, and start the members as a new cluster. For a
			druid cluster, the steps copy the snapshot into the backup store, from which the sidecars
			restore it.

			The restore raises the revision by 1000000000 and marks all revisions before it as
			compacted, so that clients with watches notice the change of the data. To prevent that, use
			--bump-revision 0.`),
		Example: ui.Examples(`
			# Save the steps to a file
			kubectl etcd snapshot restore-plan main.db etcd-main > restore.txt

			# Print only the commands
			kubectl etcd snapshot restore-plan main.db etcd-main -o jsonpath='{range .steps[*]}{range .commands[*]}{@}{"\n"}{end}{end}'`),
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runRestorePlan(cmd, a, args[0], args[1], o)
		},
	}
	addRestoreFlags(cmd, &o)
	ui.AddOutputFlags(cmd)
	return cmd
}

func addRestoreFlags(cmd *cobra.Command, o *restorePlanOptions) {
	flags := cmd.Flags()
	flags.Int64Var(&o.bump, "bump-revision", restore.DefaultBump, "Number by which the restore raises the revision. It marks earlier revisions as compacted. 0 disables both")
	flags.Int32Var(&o.replicas, "replicas", 0, "Number of members to restore. The default is the number that the cluster should have")
	flags.DurationVar(&o.keep, "keep-old-for", 0, "Time after which kubectl etcd sweep may delete the old data, such as 168h. The default is no limit")
	flags.StringVar(&o.tool, "tool", "", "Program that makes data directories: etcdutl, or etcdctl for etcd 3.4. The default is the one in PATH")
	flags.StringVar(&o.image, "helper-image", "busybox:1.37", "Image with tar, for pods that copy data into volumes or into a backup store on a node")
}

func (o restorePlanOptions) validate() error {
	switch {
	case o.bump < 0:
		return fmt.Errorf("--bump-revision is %d, and can't be less than 0", o.bump)
	case o.keep < 0:
		return fmt.Errorf("--keep-old-for is %s, and can't be less than 0", o.keep)
	case o.replicas < 0 || o.replicas > membership.MaxMembers:
		return fmt.Errorf("--replicas is %d, and must be from 0 to %d", o.replicas, membership.MaxMembers)
	}
	return nil
}

// planFor begins a plan for a cluster with the flags.
func planFor(cmd *cobra.Command, a *app.App, target string) (*app.Cluster, restore.Plan, error) {
	r := restore.Plan{At: a.Clock.Now()}
	c, err := a.Owner(cmd.Context(), target)
	if err != nil {
		return nil, r, err
	}
	if _, err := a.Credentials.Read(a); err != nil { // the commands contain them
		return nil, r, err
	}
	r.Owner, r.Flags.Login = c.Owner, a.Credentials.AsArgs()
	r.Flags.Context, err = pinnedFlags(a)
	r.Flags.Kubectl = strings.TrimSpace(r.Flags.Context + " -n " + c.Namespace)
	return c, r, err
}

// runRestorePlan prints the steps to restore a file into a cluster.
func runRestorePlan(cmd *cobra.Command, a *app.App, file, target string, o restorePlanOptions) error {
	if err := o.validate(); err != nil {
		return err
	}
	ctx := cmd.Context()
	inspected, content, err := inspect(a, cmd, file)
	if err != nil {
		return err
	}
	c, r, err := planFor(cmd, a, target)
	if err != nil {
		return err
	}
	r.File, r.Snapshot = file, content
	r.Bump, r.Tool, r.KeepFor = o.bump, o.tool, o.keep
	surveyForRestore(ctx, a, target, &r)
	if err := r.Find(ctx, c.Kube, c.Reader, o.replicas, o.image); err != nil {
		return err
	}
	steps, warnings, err := restore.Steps(r)
	if err != nil {
		return app.Refused("%v", err)
	}
	out := &v1alpha1.RestorePlan{Snapshot: *inspected, Cluster: clusterReference(c), Warnings: warnings}
	for _, s := range steps {
		out.Steps = append(out.Steps, v1alpha1.RestoreStep{Title: s.Title, Why: s.Why, Commands: s.Commands(r.Flags)})
	}
	return a.Print(cmd, out, func(w io.Writer, _ bool) error { return writePlan(a, w, out) })
}

// surveyForRestore adds facts from the members, if any of them answers.
func surveyForRestore(ctx context.Context, a *app.App, target string, r *restore.Plan) {
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return
	}
	defer c.Close()
	if len(c.Members.Endpoints) > 0 {
		r.ClientPort = c.Members.Endpoints[0].Port
	}
	survey, err := c.Members.Survey(ctx)
	r.SetSurvey(survey, app.Is[*etcd.SplitBrainError](err))
}

// pinnedFlags returns flags that select the same API server even if the current context changes.
func pinnedFlags(a *app.App) (string, error) {
	if *a.Flags.BearerToken != "" {
		return "", app.Refused("every printed command would contain --token: put the token into a kubeconfig, and use --context")
	}
	flags := a.ContextFlags()
	raw, err := a.Flags.ToRawKubeConfigLoader().RawConfig()
	if err == nil && *a.Flags.Context == "" && raw.CurrentContext != "" {
		flags = " --context " + step.Quote(raw.CurrentContext) + flags
	}
	return flags, nil
}
