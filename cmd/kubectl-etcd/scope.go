// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// scope is which clusters are meant where no TARGET names one. Its zero value is
// all of the namespace.
type scope struct {
	allNamespaces bool
	selector      string
}

// addFlags lets a command's user choose the scope; what says what is done with it.
func (s *scope) addFlags(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.BoolVarP(&s.allNamespaces, "all-namespaces", "A", false, what+" of all namespaces")
	flags.StringVarP(&s.selector, "selector", "l", "", what+" whose Etcds or StatefulSets have these labels")
}

// besides refuses a scope beside a TARGET, which is one cluster already.
func (s scope) besides(target string) error {
	if target != "" && s != (scope{}) {
		return fmt.Errorf("give a TARGET or -A or -l, not both")
	}
	return nil
}

// read is the namespace, empty for all, and the labels.
func (s scope) read(e *env) (string, labels.Selector, error) {
	selector, err := labels.Parse(s.selector)
	if err != nil {
		return "", nil, fmt.Errorf("selector %q: %w", s.selector, err)
	}
	if s.allNamespaces {
		return "", selector, nil
	}
	namespace, err := e.namespace()
	return namespace, selector, err
}

// clusters are those of the scope, at least one.
func (s scope) clusters(ctx context.Context, e *env) ([]observe.Owner, error) {
	namespace, selector, err := s.read(e)
	if err != nil {
		return nil, err
	}
	reader, err := e.reader()
	if err != nil {
		return nil, err
	}
	owners, err := reader.Clusters(ctx, client.InNamespace(namespace))
	if err != nil {
		return nil, err
	}
	owners = withLabels(owners, selector)
	if len(owners) == 0 {
		return nil, fmt.Errorf("no etcd cluster%s; kubectl etcd list -A shows all", whereabouts(namespace, s.selector))
	}
	return owners, nil
}

func withLabels(owners []observe.Owner, selector labels.Selector) []observe.Owner {
	return slices.DeleteFunc(owners, func(o observe.Owner) bool { return !selector.Matches(labels.Set(o.Labels)) })
}

// only is the one cluster of the scope.
func (s scope) only(ctx context.Context, e *env) (observe.Owner, error) {
	owners, err := s.clusters(ctx, e)
	if err != nil {
		return observe.Owner{}, err
	}
	if len(owners) == 1 {
		return owners[0], nil
	}
	names := make([]string, len(owners))
	for i, o := range owners {
		names[i] = fmt.Sprintf("%s -n %s", o.Target(), o.Namespace)
	}
	slices.Sort(names)
	return observe.Owner{}, fmt.Errorf("there are %d etcd clusters; name one of %s", len(owners), strings.Join(names, ", "))
}
