// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// NodesOf returns the names of the nodes that arguments name, or that a selector chooses if there is one. -o name prints
// nodes as node/NAME.
func (j *Job) NodesOf(ctx context.Context, args []string, selector string) ([]string, error) {
	if selector != "" {
		return selected(ctx, j.Kube, selector)
	}
	var names []string
	for _, arg := range args {
		name := strings.TrimPrefix(strings.TrimPrefix(arg, "nodes/"), "node/")
		if slices.Contains(names, name) {
			j.Warnf("node %s is named twice.", name)
			continue
		}
		names = append(names, name)
	}
	return names, nil
}

// selected returns the names of the nodes that have the labels of a selector.
func selected(ctx context.Context, kube client.Reader, selector string) ([]string, error) {
	parsed, err := labels.Parse(selector)
	if err != nil {
		return nil, fmt.Errorf("selector %q: %w", selector, err)
	}
	names, err := list(ctx, kube, client.MatchingLabelsSelector{Selector: parsed})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("no node has the labels %s", selector)
	}
	return names, err
}

func list(ctx context.Context, kube client.Reader, opts ...client.ListOption) ([]string, error) {
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

// Existing adds the nodes that exist to a *MissingNodesError. It returns any other error as it is.
func Existing(ctx context.Context, kube client.Reader, err error) error {
	if _, missing := errors.AsType[*MissingNodesError](err); !missing {
		return err
	}
	names, listErr := list(ctx, kube)
	if listErr != nil || len(names) == 0 {
		return err
	}
	return fmt.Errorf("%w; the nodes are %s", err, policy.Items(len(names), func(i int) string { return names[i] }))
}
