// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

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

// Scope is which clusters are meant where no TARGET names one. Its zero value is
// all of the namespace.
type Scope struct {
	AllNamespaces bool
	Selector      string
}

// AddFlags lets a command's user choose the scope; what says what is done with it.
func (s *Scope) AddFlags(cmd *cobra.Command, what string) {
	flags := cmd.Flags()
	flags.BoolVarP(&s.AllNamespaces, "all-namespaces", "A", false, what+" of all namespaces")
	flags.StringVarP(&s.Selector, "selector", "l", "", what+" whose Etcds or StatefulSets have these labels")
}

// RejectTarget refuses a scope beside a TARGET, which is one cluster already.
func (s Scope) RejectTarget(target string) error {
	if target != "" && s != (Scope{}) {
		return fmt.Errorf("give a TARGET or -A or -l, not both")
	}
	return nil
}

// Read is the namespace, empty for all, and the labels.
func (s Scope) Read(a *App) (string, labels.Selector, error) {
	selector, err := labels.Parse(s.Selector)
	if err != nil {
		return "", nil, fmt.Errorf("selector %q: %w", s.Selector, err)
	}
	if s.AllNamespaces {
		return "", selector, nil
	}
	namespace, err := a.Namespace()
	return namespace, selector, err
}

// Clusters are those of the scope, at least one.
func (s Scope) Clusters(ctx context.Context, a *App) ([]observe.Owner, error) {
	namespace, selector, err := s.Read(a)
	if err != nil {
		return nil, err
	}
	reader, err := a.Reader()
	if err != nil {
		return nil, err
	}
	owners, err := reader.Clusters(ctx, client.InNamespace(namespace))
	if err != nil {
		return nil, err
	}
	owners = observe.WithLabels(owners, selector)
	if len(owners) == 0 {
		return nil, fmt.Errorf("no etcd cluster%s; kubectl etcd list -A shows all", ScopeText(namespace, s.Selector))
	}
	return owners, nil
}

// Single is the one cluster of the scope.
func (s Scope) Single(ctx context.Context, a *App) (observe.Owner, error) {
	owners, err := s.Clusters(ctx, a)
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

// ScopeText says where was looked, to follow a sentence.
func ScopeText(namespace, selector string) string {
	where := " in any namespace"
	if namespace != "" {
		where = " in namespace " + namespace
	}
	if selector != "" {
		where += " with labels " + selector
	}
	return where
}
