// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drainplan

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/drain"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// nodesOf returns the names of the nodes that the arguments or the selector choose.
func nodesOf(ctx context.Context, a *app.App, args []string, selector string) ([]string, error) {
	if selector == "" {
		return named(a, args), nil
	}
	parsed, err := labels.Parse(selector)
	if err != nil {
		return nil, fmt.Errorf("selector %q: %w", selector, err)
	}
	names, err := list(ctx, a, client.MatchingLabelsSelector{Selector: parsed})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("no node has the labels %s", selector)
	}
	return names, err
}

// named returns each argument once. -o name prints nodes as node/NAME.
func named(a *app.App, args []string) []string {
	var names []string
	for _, arg := range args {
		name := strings.TrimPrefix(strings.TrimPrefix(arg, "nodes/"), "node/")
		if slices.Contains(names, name) {
			a.Warn("node %s is named twice.", name)
			continue
		}
		names = append(names, name)
	}
	return names
}

func list(ctx context.Context, a *app.App, opts ...client.ListOption) ([]string, error) {
	kube, err := a.Client()
	if err != nil {
		return nil, err
	}
	var nodes corev1.NodeList
	if err := kube.List(ctx, &nodes, opts...); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	names := make([]string, 0, len(nodes.Items))
	for i := range nodes.Items {
		names = append(names, nodes.Items[i].Name)
	}
	slices.Sort(names)
	return names, nil
}

// unknownNode adds the nodes that exist to the error about one that doesn't.
func unknownNode(ctx context.Context, a *app.App, err error) error {
	if _, missing := errors.AsType[*drain.MissingNodesError](err); !missing {
		return err
	}
	names, listErr := list(ctx, a)
	if listErr != nil || len(names) == 0 {
		return err
	}
	return fmt.Errorf("%w; the nodes are %s", err, policy.Items(len(names), func(i int) string { return names[i] }))
}
