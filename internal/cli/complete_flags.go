// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// completeFlags completes the flags that take names of objects or checks.
func (c completions) completeFlags(cmd *cobra.Command) {
	for name, f := range map[string]completer{
		"to": c.completePods, "member": c.completePods, "service": c.completeServices,
		"only": completeChecks, "skip": completeChecks,
	} {
		if cmd.LocalNonPersistentFlags().Lookup(name) != nil {
			register(cmd, name, f)
		}
	}
}

func register(c *cobra.Command, flag string, f completer) {
	if err := c.RegisterFlagCompletionFunc(flag, f); err != nil {
		panic(err) // the flag exists
	}
}

func (c completions) completeNamespaces(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	reader, err := c.app.Reader()
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
	return withPrefix(typed, names), cobra.ShellCompDirectiveNoFileComp
}

// completeNodes completes with the nodes that are not among the arguments yet.
func (c completions) completeNodes(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	reader, err := c.app.Reader()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var list corev1.NodeList
	if err := reader.List(ctx, &list); err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []string
	for i := range list.Items {
		if name := list.Items[i].Name; !slices.Contains(args, name) {
			names = append(names, name)
		}
	}
	return withPrefix(typed, names), cobra.ShellCompDirectiveNoFileComp
}

func (c completions) completeContexts(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	raw, err := c.app.Flags.ToRawKubeConfigLoader().RawConfig()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return withPrefix(typed, slices.Sorted(maps.Keys(raw.Contexts))), cobra.ShellCompDirectiveNoFileComp
}

// completeServices completes with the client Services of the cluster in args.
func (c completions) completeServices(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), completionLimit)
	defer cancel()
	return c.complete(cmd, typed, func(owners []owner.Owner) []string {
		reader, err := c.app.Reader()
		if err != nil {
			return nil
		}
		var out []string
		for _, o := range clustersNamed(owners, args) {
			services, err := memberservices.OfClients(ctx, reader, o)
			if err != nil {
				continue
			}
			for i := range services {
				out = append(out, services[i].Name+"\tof "+o.Target().String())
			}
		}
		return out
	})
}

// completeChecks completes the last item of a list of checks and categories.
func completeChecks(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	before := typed[:strings.LastIndex(typed, ",")+1]
	var out []string
	for _, c := range health.All() {
		if category := before + string(c.Category); !slices.Contains(out, category) {
			out = append(out, category)
		}
	}
	for _, c := range health.All() {
		out = append(out, before+c.ID+"\t"+c.Title)
	}
	return withPrefix(typed, out), cobra.ShellCompDirectiveNoFileComp
}
