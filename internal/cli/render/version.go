// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/install"
)

// Version returns the text of the versions of the plugin and of the programs in the cluster.
func Version(c *ui.Console, v *v1alpha1.Version) Text {
	return func(w io.Writer, _ bool) error {
		lines := []string{"Client Version: " + v.Client.Version, "  " + built(v.Client)}
		if v.Server != nil {
			lines = append(lines, "Kubernetes Version: "+v.Server.Kubernetes)
			for _, name := range install.Programs {
				lines = append(lines, programLines(name, v.Server)...)
			}
		}
		return c.Line(w, ui.Plain(strings.Join(lines, "\n"))...)
	}
}

// built describes the build of the plugin in one line.
func built(c v1alpha1.ClientVersion) string {
	from := "built"
	if c.Commit != "" {
		from = "commit " + c.Commit + " of " + c.CommitDate
		if c.Modified {
			from += " with changes"
		}
		from += ", built"
	}
	return from + " by " + c.GoVersion + " for " + c.Platform
}

func programLines(name string, server *v1alpha1.ServerVersion) []string {
	var lines []string
	for _, p := range server.Programs {
		if p.Name == name {
			lines = append(lines, fmt.Sprintf("%s: %s (Deployment %s/%s, %d of %d ready)", name, p.Version, p.Namespace, p.Deployment, p.Ready, p.Desired))
		}
	}
	switch {
	case len(lines) > 0:
		return lines
	case server.ProgramsUnknown != "":
		return []string{name + ": not known: " + server.ProgramsUnknown}
	}
	return []string{name + ": not found"}
}
