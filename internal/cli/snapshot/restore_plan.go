// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// restorePlanOptions are those of snapshot restore-plan.
type restorePlanOptions struct {
	bump     int64
	replicas int32
	image    string
}

func newRestorePlanCommand(a *app.App) *cobra.Command {
	var f restorePlanOptions
	cmd := &cobra.Command{
		Use:   "restore-plan FILE TARGET",
		Short: "Print how to restore a snapshot into a cluster, step by step",
		Long: ui.Paragraphs(`
			Print the steps that restore a snapshot into this very cluster, with the commands to type:
			its members' names, URLs, directories, volumes and users are in them. Nothing is done.

			For a StatefulSet all members are stopped, data directories made on your machine are put
			into their volumes, what was there is set aside, and all start as a new cluster. For a
			druid cluster the snapshot goes into its backup store, and its sidecars restore it.

			The revision is raised by 1000000000 and everything before marked as compacted, so that
			clients which watch notice that the data has changed under them. --bump-revision 0
			leaves that away.`),
		Example: ui.Examples(`
			kubectl etcd snapshot restore-plan main.db etcd-main > restore.txt

			# Only the commands
			kubectl etcd snapshot restore-plan main.db etcd-main -o jsonpath='{range .steps[*]}{range .commands[*]}{@}{"\n"}{end}{end}'`),
		Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.bump < 0:
				return fmt.Errorf("--bump-revision is %d, and can't be less than 0", f.bump)
			case f.replicas < 0 || f.replicas > membership.MaxMembers:
				return fmt.Errorf("--replicas is %d, and must be from 0 to %d", f.replicas, membership.MaxMembers)
			}
			return runRestorePlan(cmd, a, args[0], args[1], f)
		},
	}
	flags := cmd.Flags()
	flags.Int64Var(&f.bump, "bump-revision", restore.DefaultBump, "By how much to raise the revision, with all before it marked as compacted; 0 for neither")
	flags.Int32Var(&f.replicas, "replicas", 0, "How many members to restore, instead of as many as the cluster should have")
	flags.StringVar(&f.image, "helper-image", "busybox:1.37", "Image with tar, for the pods that put data into volumes, or a snapshot into a store on the nodes")
	ui.AddOutputFlags(cmd)
	return cmd
}

// runRestorePlan prints how to restore a file into a cluster.
func runRestorePlan(cmd *cobra.Command, a *app.App, file, target string, f restorePlanOptions) error {
	ctx := cmd.Context()
	snapshot, err := inspect(a, cmd, file)
	if err != nil {
		return err
	}
	content, err := snapshot.Inspect(ctx, file)
	if err != nil {
		return err
	}
	c, err := a.Owner(ctx, target)
	if err != nil {
		return err
	}
	if _, err := a.Credentials.Read(a); err != nil { // they stand in the commands
		return err
	}
	r := operate.Restore{File: file, Snapshot: content, Bump: f.bump, Owner: c.Owner, Login: a.Credentials.AsArgs(), At: a.Clock.Now()}
	if r.Context, err = pinnedFlags(a); err != nil {
		return err
	}
	r.Flags = strings.TrimSpace(r.Context + " -n " + c.Namespace)
	surveyForRestore(ctx, a, target, &r)
	if err := r.Find(ctx, c.Kube, c.Reader, f.replicas, f.image); err != nil {
		return err
	}
	steps, warnings, err := restore.Steps(r)
	if err != nil {
		return app.Refused("%v", err)
	}
	out := &v1alpha1.RestorePlan{Snapshot: *inspected, Cluster: clusterReference(c), Warnings: warnings}
	for _, s := range steps {
		out.Steps = append(out.Steps, v1alpha1.RestoreStep{Title: s.Title, Why: s.Why, Commands: s.Commands})
	}
	return a.Print(cmd, out, func(w io.Writer, _ bool) error { return writePlan(a, w, out) })
}

// surveyForRestore fills in what the members say, as far as any of them answers.
func surveyForRestore(ctx context.Context, a *app.App, target string, r *operate.Restore) {
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

// pinnedFlags are those by which a command that is typed later reaches the same API
// server, whatever the current context is by then.
func pinnedFlags(a *app.App) (string, error) {
	if *a.Flags.BearerToken != "" {
		return "", app.Refused("--token would stand in every command that is printed; put it into a kubeconfig, and name its context with --context")
	}
	flags := a.ContextFlags()
	raw, err := a.Flags.ToRawKubeConfigLoader().RawConfig()
	if err == nil && *a.Flags.Context == "" && raw.CurrentContext != "" {
		flags = " --context " + operate.Quote(raw.CurrentContext) + flags
	}
	return flags, nil
}

func writePlan(a *app.App, w io.Writer, p *v1alpha1.RestorePlan) error {
	fmt.Fprintf(w, "# Restore %s (revision %d, %d keys) into %s %s/%s\n", p.Snapshot.File, p.Snapshot.Revision, p.Snapshot.Keys, p.Cluster.Kind, p.Cluster.Namespace, p.Cluster.Name)
	fmt.Fprintln(w, "# This is a plan: nothing has been done.")
	for _, warning := range p.Warnings {
		fmt.Fprintf(w, "%s %s.\n", a.Paint(w, ui.Yellow, "# Warning:"), warning)
	}
	for i, s := range p.Steps {
		fmt.Fprintf(w, "\n%s\n", a.Paint(w, ui.Bold, fmt.Sprintf("# %d. %s", i+1, s.Title)))
		if s.Why != "" {
			fmt.Fprintf(w, "#    %s\n", s.Why)
		}
		for _, c := range s.Commands {
			fmt.Fprintln(w, strings.TrimRight(c, "\n"))
		}
	}
	return nil
}
