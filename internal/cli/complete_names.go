// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// completionLimit is how long a completion may take after the user presses Tab.
const completionLimit = 3 * time.Second

// completer is cobra's function that completes an argument or a flag.
type completer func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// completions completes names of objects. It reads them from the API server.
type completions struct{ app *app.App }

// completeArguments completes the arguments of all commands. The usage line of a command
// defines what each argument is.
func (c completions) completeArguments(root *cobra.Command) {
	everyCommand(root, func(cmd *cobra.Command) {
		usage := strings.Fields(cmd.Use)[1:]
		if cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 && len(usage) > 0 {
			cmd.ValidArgsFunction = c.completeUsage(usage)
		}
		c.completeFlags(cmd)
	})
	register(root, "namespace", c.completeNamespaces)
	register(root, "context", c.completeContexts)
}

// completeUsage completes an argument by its name in the usage. In place of an optional
// argument it also completes the next one, as in "[TARGET] POD".
func (c completions) completeUsage(usage []string) completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if usage[0] == "NODE..." {
			return c.completeNodes(cmd, args, typed)
		}
		if len(args) >= len(usage) {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		word := usage[len(args)]
		switch strings.Trim(word, "[]") {
		case "FILE":
			return nil, cobra.ShellCompDirectiveDefault
		case "POD", "MEMBER":
			return c.completePods(cmd, args, typed)
		case "TARGET":
			names, directive := c.completeTargets(cmd, nil, typed)
			if strings.HasPrefix(word, "[") && len(usage) > len(args)+1 {
				pods, _ := c.completePods(cmd, nil, typed)
				names = append(names, pods...)
			}
			return names, directive
		}
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
}

func withPrefix(typed string, candidates []string) []string {
	return slices.DeleteFunc(candidates, func(c string) bool { return !strings.HasPrefix(c, typed) })
}

// completeTargets completes the first argument with the clusters of the namespace. It uses
// TYPE/NAME if the user typed a slash or if several clusters have the name.
func (c completions) completeTargets(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(cmd, typed, func(owners []owner.Owner) []string {
		names := map[string]int{}
		for _, o := range owners {
			names[o.Name]++
		}
		var out []string
		for _, o := range owners {
			word := o.Target().String()
			if names[o.Name] == 1 && !strings.Contains(typed, "/") {
				word = o.Name
			}
			out = append(out, word+"\t"+string(o.Distribution)+", "+o.Ref())
		}
		return out
	})
}

// completePods completes with the members' pods of the cluster in args, or of all clusters
// if args is empty.
func (c completions) completePods(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	return c.complete(cmd, typed, func(owners []owner.Owner) []string {
		var out []string
		reader, err := c.app.Reader()
		if err != nil {
			return nil
		}
		for _, o := range clustersNamed(owners, args) {
			pods, err := reader.MemberPods(ctx, o)
			if err != nil {
				continue
			}
			for _, p := range pods {
				out = append(out, p.Name+"\tmember of "+o.Target().String())
			}
		}
		return out
	})
}

// clustersNamed returns the clusters that the first argument names. Without arguments, it
// returns all.
func clustersNamed(owners []owner.Owner, args []string) []owner.Owner {
	return slices.DeleteFunc(owners, func(o owner.Owner) bool {
		return len(args) > 0 && args[0] != o.Name && args[0] != o.Target().String()
	})
}

// complete returns the candidates for the clusters of the namespace. It returns none on
// errors, because a shell can't show them.
func (c completions) complete(cmd *cobra.Command, typed string, candidates func([]owner.Owner) []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	const directive = cobra.ShellCompDirectiveNoFileComp
	owners, _, err := app.Scope{}.Clusters(ctx, c.app)
	if err != nil {
		return nil, directive
	}
	return withPrefix(typed, candidates(owners)), directive
}
