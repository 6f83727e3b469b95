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
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
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
func writeHinted(a *app.App, w io.Writer, hinted []v1alpha1.HintedWorkload, after bool) error {
	if len(hinted) == 0 {
		return nil
	}
	lines := []string{"May be etcd, or is declared wrongly. Nothing is done that needs the missing declaration:"}
	if after {
		lines = append([]string{""}, lines...)
	}
	for _, h := range hinted {
		lines = append(lines, "", fmt.Sprintf("%s/%s in namespace %s", strings.ToLower(h.Kind), h.Name, h.Namespace))
		if h.Problem != "" {
			lines = append(lines, "  problem: "+h.Problem)
		}
		for _, hint := range h.Hints {
			lines = append(lines, "  hint:    "+hint)
		}
		for _, command := range h.Declare {
			lines = append(lines, "  declare: "+command)
		}
		if h.Deny == "" {
			lines = append(lines, fmt.Sprintf("  declare: set the annotation %s in the manifest on its nodes", apiv1alpha1.EtcdAnnotation))
			continue
		}
		lines = append(lines, "  deny:    "+h.Deny)
	}
	for _, line := range lines {
		if err := a.Line(w, ui.Plain(a.Wrap(line, 0)...)...); err != nil {
			return err
		}
	}
	return nil
}
