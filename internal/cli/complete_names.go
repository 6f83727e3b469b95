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
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// completionLimit is how long a person who pressed Tab is kept waiting.
const completionLimit = 3 * time.Second

// completer completes a word, as cobra calls it.
type completer func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective)

// completions completes words with the names that the API server has now.
type completions struct{ app *app.App }

// completeArguments gives every command that takes names the live ones, by what
// its usage calls its arguments.
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

// completeUsage completes each argument by the word for it in a usage. One that may
// be left out may be the next one already: [TARGET] POD.
func (c completions) completeUsage(usage []string) completer {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
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

func withPrefix(typed string, words []string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, typed) })
}

// completeTargets completes the first argument with the clusters of the
// namespace: by name, and as TYPE/NAME once a slash is typed or a name stands
// for several.
func (c completions) completeTargets(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return c.complete(cmd, typed, func(owners []observe.Owner) []string {
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

// completePods completes arguments from the first on with pods of the cluster
// that the arguments before name; with all clusters' pods where there is none.
func (c completions) completePods(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	return c.complete(cmd, typed, func(owners []observe.Owner) []string {
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

// clustersNamed are the clusters that the first argument names, all where there is none.
func clustersNamed(owners []observe.Owner, args []string) []observe.Owner {
	return slices.DeleteFunc(owners, func(o observe.Owner) bool {
		return len(args) > 0 && args[0] != o.Name && args[0] != o.Target().String()
	})
}

// complete offers words for the clusters of the namespace. It never fails: a
// shell has no place for an error.
func (c completions) complete(cmd *cobra.Command, typed string, words func([]observe.Owner) []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	const directive = cobra.ShellCompDirectiveNoFileComp
	owners, err := app.Scope{}.Clusters(ctx, c.app)
	if err != nil {
		return nil, directive
	}
	return withPrefix(typed, words(owners)), directive
}
