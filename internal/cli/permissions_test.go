// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
)

// TestEveryCommandHasPermissions holds that the table of docs/rbac.md names every command that can be
// run. After a command of a group, as "member add", a row names others of the group without it, as "promote".
func TestEveryCommandHasPermissions(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/rbac.md")
	if err != nil {
		t.Fatal(err)
	}
	var commands []string
	everyCommand(newRootCmd(app.New(genericiooptions.IOStreams{Out: io.Discard, ErrOut: io.Discard})), func(c *cobra.Command) {
		if c.Runnable() && !c.HasSubCommands() && c.HasParent() && c.Name() != "help" {
			commands = append(commands, strings.TrimPrefix(c.CommandPath(), c.Root().DisplayName()+" "))
		}
	})
	named := commandsWithPermissions(string(page), commands)
	for _, c := range commands {
		if !named[c] {
			t.Errorf("the first column of the table in docs/rbac.md doesn't have `%s`: add the permissions that it needs", c)
		}
	}
}

// firstCell is the first cell of a row of a table, and quoted is a name in it.
var (
	firstCell = regexp.MustCompile(`(?m)^\| ([^|]+) \|`)
	quoted    = regexp.MustCompile("`([^`]+)`")
)

// commandsWithPermissions returns which of the commands the first cells of a page name. A name may be
// followed by arguments and flags.
func commandsWithPermissions(page string, commands []string) map[string]bool {
	named := map[string]bool{}
	for _, row := range firstCell.FindAllStringSubmatch(page, -1) {
		group := ""
		for _, name := range quoted.FindAllStringSubmatch(row[1], -1) {
			for _, c := range commands {
				if is := name[1] + " "; strings.HasPrefix(is, c+" ") || group != "" && strings.HasPrefix(group+is, c+" ") {
					named[c] = true
				}
			}
			if before, _, several := strings.Cut(name[1], " "); several && !strings.HasPrefix(name[1], before+" -") {
				group = before + " "
			}
		}
	}
	return named
}
