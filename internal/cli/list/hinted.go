// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package list

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	apiv1alpha1 "github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
)

// mayBe returns the sentence about workloads that may run etcd and are not listed.
func mayBe(n int, listed bool) string {
	switch {
	case n == 0 || listed:
		return ""
	case n == 1:
		return " 1 workload may run etcd: --all shows it."
	}
	return fmt.Sprintf(" %d workloads may run etcd: --all shows them.", n)
}

// warnWrong warns about declarations that count for nothing.
func warnWrong(a *app.App, hinted []v1alpha1.HintedWorkload) {
	for _, h := range hinted {
		if h.Problem != "" {
			a.Warn("%s %s/%s: %s.", h.Kind, h.Namespace, h.Name, h.Problem)
		}
	}
}

// writeHinted prints the workloads that may run etcd. Its lines are not shortened: users type the
// commands in them.
func writeHinted(w io.Writer, hinted []v1alpha1.HintedWorkload, after bool) error {
	if len(hinted) == 0 {
		return nil
	}
	var b strings.Builder
	if after {
		b.WriteString("\n")
	}
	b.WriteString("May be etcd, or is declared wrongly. Nothing is done that needs the missing declaration:\n")
	for _, h := range hinted {
		fmt.Fprintf(&b, "\n%s/%s in namespace %s\n", strings.ToLower(h.Kind), h.Name, h.Namespace)
		if h.Problem != "" {
			fmt.Fprintf(&b, "  problem: %s\n", h.Problem)
		}
		for _, hint := range h.Hints {
			fmt.Fprintf(&b, "  hint:    %s\n", hint)
		}
		for _, command := range h.Declare {
			fmt.Fprintf(&b, "  declare: %s\n", command)
		}
		if h.Deny == "" {
			fmt.Fprintf(&b, "  declare: set the annotation %s in the manifest on its nodes\n", apiv1alpha1.EtcdAnnotation)
			continue
		}
		fmt.Fprintf(&b, "  deny:    %s\n", h.Deny)
	}
	_, err := io.WriteString(w, b.String())
	return err
}
