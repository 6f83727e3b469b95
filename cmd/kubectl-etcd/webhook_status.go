// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

func newWebhookStatusCmd(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Say whether the installed etcd-webhook works",
		Long: paragraphs(`
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
		Example: examples(`
			# Does it work
			kubectl etcd webhook status

			# For a script
			kubectl etcd webhook status -o json | jq -r .health`),
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return webhookStatus(cmd.Context(), e, cmd)
		},
	}
	addOutputFlags(cmd)
	return cmd
}

func webhookStatus(ctx context.Context, e *env, cmd *cobra.Command) error {
	look, err := e.webhookLook()
	if err != nil {
		return err
	}
	st, err := look.look(ctx)
	if err != nil {
		return err
	}
	judgeWebhook(st)
	err = e.print(cmd, st, func(w io.Writer, wide bool) error {
		c := e.canvas(w)
		if err := renderWebhook(e, c, st, wide); err != nil {
			return err
		}
		_, err := w.Write(c.Bytes())
		return err
	})
	if err != nil {
		return err
	}
	return webhookVerdict(st)
}

// webhookVerdict ends the command with exit code 3 where the webhook doesn't work.
func webhookVerdict(st *v1alpha1.WebhookStatus) error {
	first := ""
	if len(st.Problems) > 0 {
		first = ": " + st.Problems[0].Message
	}
	switch st.Health {
	case v1alpha1.Healthy, v1alpha1.Degraded:
		return nil
	case v1alpha1.NotInstalled:
		return unhealthy("etcd-webhook is not installed%s", first)
	case v1alpha1.Unknown:
		return unhealthy("whether etcd-webhook works can't be told%s", first)
	}
	return unhealthy("etcd-webhook does not work%s", first)
}

func (e *env) webhookLook() (*webhookLook, error) {
	config, err := e.config()
	if err != nil {
		return nil, err
	}
	namespace, err := e.namespace()
	if err != nil {
		return nil, err
	}
	return newWebhookLook(config, e.clock, namespace, *e.flags.Namespace != "")
}
