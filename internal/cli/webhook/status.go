// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/install"
)

func newStatusCommand(a *app.App) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether the installed etcd-webhook works",
		Long: ui.Paragraphs(`
			Say whether the etcd-webhook that is installed works: its replicas and who leads, the
			certificate that each of them serves and whether every webhook's caBundle vouches for it,
			what it is called for, policies, cuts of client traffic, and its last warnings.

			The proof is a dry run: the API server is asked to create a pod that looks like a member,
			and nothing is created. It is one of a cluster that a policy governs, where there is one,
			and must get what the policy says; else it is nobody's, and shows that the webhook answers.
			A namespace of -n is taken where the webhook is called for it.

			It doesn't work either where a right of its own is missing, where the webhook for pods is no
			longer registered, or where no replica has led for 30 seconds: nobody keeps budgets then, or
			ends cuts. Times are judged by the API server's clock.

			What can't be seen is named in its place, with why. Exit codes: 0 it works, warnings or not;
			3 it doesn't, is not installed, or too little can be seen to tell; 1 error, such as an API
			server that doesn't answer.`),
		Example: ui.Examples(`
			# Does it work
			kubectl etcd webhook status

			# For a script
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
	look, err := newInspector(a)
	if err != nil {
		return err
	}
	st, err := look.Look(ctx)
	if err != nil {
		return err
	}
	install.JudgeWebhook(st)
	err = a.Print(cmd, st, func(w io.Writer, wide bool) error {
		c := a.Screen(w)
		if err := render(a, c, st, wide); err != nil {
			return err
		}
		_, err := w.Write(c.Bytes())
		return err
	})
	if err != nil {
		return err
	}
	return healthError(st)
}

// healthError ends the command with exit code 3 where the webhook doesn't work.
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
		return app.Unhealthy("whether etcd-webhook works can't be told%s", first)
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
	return install.NewWebhookLook(config, a.Clock, namespace, *a.Flags.Namespace != "")
}
