// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/install"
)

func newStatusCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show whether etcd-webhook works",
		Long: ui.Paragraphs(`
			Show whether etcd-webhook works. The output has its replicas and their leader, the
			certificate of each replica and whether every caBundle trusts it, the resources for which
			it is called, policies, cuts of client traffic, and recent warnings.

			The command tests the webhook with a dry run, which creates a pod that imitates a member.
			Nothing is created. If a policy governs a cluster, the pod imitates one of its members and
			must receive the policy's terms. Otherwise, the pod belongs to no cluster and only proves
			that the webhook answers. -n selects the namespace, if the webhook is called for it.

			The webhook also counts as broken if it lacks a permission, if the webhook for pods is not
			registered, or if it has had no leader for 30 seconds. Without a leader, budgets are not
			maintained and cuts do not end. The command uses the API server's clock.

			If you lack a permission, the output contains the reason.

			Exit codes: 0 it works, with or without warnings; 3 it does not work, is not installed, or
			its state is unknown; 1 error, for example if the API server does not answer.`),
		Example: ui.Examples(`
			# Show whether the webhook works
			kubectl etcd webhook status

			# Print only the result
			kubectl etcd webhook status -o json | jq -r .health`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runStatus(cmd.Context(), a, cmd)
		},
	}
	ui.AddOutputFlags(cmd)
	return cmd
}

func runStatus(ctx context.Context, a *app.App, cmd *cobra.Command) error {
	inspector, err := newInspector(a)
	if err != nil {
		return err
	}
	st, err := inspector.Inspect(ctx)
	if err != nil {
		return err
	}
	install.JudgeWebhook(st)
	if err := a.Print(cmd, st, render.Webhook(a.Console, st)); err != nil {
		return err
	}
	return healthError(st)
}

// healthError returns an error for exit code 3 if the webhook does not work.
func healthError(st *v1alpha1.WebhookStatus) error {
	first := ""
	if len(st.Problems) > 0 {
		first = ": " + st.Problems[0].Message
	}
	switch st.Health {
	case v1alpha1.Healthy, v1alpha1.Degraded:
		return nil
	case v1alpha1.NotInstalled:
		return app.Unhealthy("etcd-webhook is not installed%s", first)
	case v1alpha1.Unknown:
		return app.Unhealthy("the state of etcd-webhook is unknown%s", first)
	}
	return app.Unhealthy("etcd-webhook does not work%s", first)
}

func newInspector(a *app.App) (*install.Inspector, error) {
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	namespace, err := a.Namespace()
	if err != nil {
		return nil, err
	}
	return install.NewInspector(config, a.Clock, namespace, *a.Flags.Namespace != "")
}
