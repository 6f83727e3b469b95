// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	apiv1alpha1 "github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// writeHinted prints the workloads that may run etcd. Its lines are not shortened: users type the
// commands in them.
func writeHinted(c *ui.Console, w io.Writer, hinted []v1alpha1.HintedWorkload, after bool) error {
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
		if err := c.Line(w, ui.Plain(c.Wrap(line, 0)...)...); err != nil {
			return err
		}
	}
	return nil
}
