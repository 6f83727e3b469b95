// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// completionLimit is how long a person who pressed Tab is kept waiting.
const completionLimit = 3 * time.Second

// completeArguments gives every command that takes names the live ones, by what
// its usage calls its arguments.
func (e *env) completeArguments(root *cobra.Command) {
	everyCommand(root, func(c *cobra.Command) {
		if c.ValidArgsFunction != nil || len(c.ValidArgs) > 0 {
			return
		}
		switch words := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(c.Use)); {
		case len(words) < 2:
		case words[1] == "POD":
			c.ValidArgsFunction = e.completePods
		case words[1] == "TARGET" && len(words) > 2 && words[2] == "MEMBER":
			c.ValidArgsFunction = func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
				if len(args) == 0 {
					return e.completeTargets(cmd, args, typed)
				}
				return e.completePods(cmd, args, typed)
			}
		case words[1] == "TARGET":
			c.ValidArgsFunction = e.completeTargets
		}
		if c.Flag("to") != nil {
			if err := c.RegisterFlagCompletionFunc("to", e.completePods); err != nil {
				panic(err) // the flag is there
			}
		}
	})
	if err := root.RegisterFlagCompletionFunc("namespace", e.completeNamespaces); err != nil {
		panic(err) // it is one of kubectl's
	}
	if err := root.RegisterFlagCompletionFunc("context", e.completeContexts); err != nil {
		panic(err) // so is this
	}
}

func (e *env) completeNamespaces(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	reader, err := e.reader()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list corev1.NamespaceList
	if err := reader.List(ctx, &list); err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := make([]string, 0, len(list.Items))
	for i := range list.Items {
		names = append(names, list.Items[i].Name)
	}
	return startingWith(typed, names), cobra.ShellCompDirectiveNoFileComp
}

func (e *env) completeContexts(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	raw, err := e.flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return startingWith(typed, slices.Sorted(maps.Keys(raw.Contexts))), cobra.ShellCompDirectiveNoFileComp
}

func startingWith(typed string, words []string) []string {
	return slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, typed) })
}

// completeTargets completes the first argument with the clusters of the
// namespace: by name, and as TYPE/NAME once a slash is typed or a name stands
// for several.
func (e *env) completeTargets(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return e.complete(cmd, typed, func(owners []observe.Owner) []string {
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
func (e *env) completePods(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	return e.complete(cmd, typed, func(owners []observe.Owner) []string {
		var out []string
		for _, o := range owners {
			if len(args) > 0 && args[0] != o.Name && args[0] != o.Target().String() {
				continue
			}
			reader, err := e.reader()
			if err != nil {
				return nil
			}
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

// complete offers words for the clusters of the namespace. It never fails: a
// shell has no place for an error.
func (e *env) complete(cmd *cobra.Command, typed string, words func([]observe.Owner) []string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	const directive = cobra.ShellCompDirectiveNoFileComp
	owners, err := scope{}.clusters(ctx, e)
	if err != nil {
		return nil, directive
	}
	return startingWith(typed, words(owners)), directive
}
