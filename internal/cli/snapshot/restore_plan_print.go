// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

func writePlan(a *app.App, w io.Writer, p *v1alpha1.RestorePlan) error {
	fmt.Fprintf(w, "# Restore %s (revision %d, %d keys) into %s %s/%s\n", p.Snapshot.File, p.Snapshot.Revision, p.Snapshot.Keys, p.Cluster.Kind, p.Cluster.Namespace, p.Cluster.Name)
	fmt.Fprintln(w, "# This is a plan. No step has been executed.")
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
