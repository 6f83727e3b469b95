// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/resolve"
)

// Scope selects clusters for a command without TARGET. The zero value selects all clusters of
// the namespace.
type Scope struct {
	AllNamespaces bool
	Selector      string
}

// AddFlags adds -A and -l to a command. action is what the command does, such as "Check".
func (s *Scope) AddFlags(cmd *cobra.Command, action string) {
	flags := cmd.Flags()
	flags.BoolVarP(&s.AllNamespaces, "all-namespaces", "A", false, action+" in all namespaces")
	flags.StringVarP(&s.Selector, "selector", "l", "", action+" whose Etcd or StatefulSet has these labels")
}

// RejectTarget returns an error if the command has both a TARGET and flags of the scope.
func (s Scope) RejectTarget(target string) error {
	if target != "" && s != (Scope{}) {
		return errors.New("TARGET can't be used together with -A or -l")
	}
	return nil
}

// Target returns the target of a command and its namespace, or else the only cluster of the scope if flags set it.
func (s Scope) Target(ctx context.Context, a *App, target string) (namespace string, t owner.Target, err error) {
	if err := s.RejectTarget(target); err != nil {
		return "", t, err
	}
	if s != (Scope{}) {
		o, err := s.Single(ctx, a)
		if err != nil {
			return "", t, err
		}
		return o.Namespace, o.Target(), nil
	}
	if t, err = owner.ParseTarget(target); err != nil {
		return "", t, err
	}
	namespace, err = a.Namespace()
	return namespace, t, err
}

// Read returns the namespace, which is empty for all, and the label selector.
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

// Clusters returns the clusters of the scope. None is an error. unread is why there may be more.
func (s Scope) Clusters(ctx context.Context, a *App) (owners []owner.Owner, unread, err error) {
	namespace, selector, err := s.Read(a)
	if err != nil {
		return nil, nil, err
	}
	reader, err := a.Reader()
	if err != nil {
		return nil, nil, err
	}
	owners, err = reader.Clusters(ctx, client.InNamespace(namespace))
	if err != nil {
		return nil, nil, err
	}
	owners = owner.WithLabels(owners, selector)
	for _, e := range resolve.Unread(reader.Scripts, namespace, selector) {
		unread = errors.Join(unread, e)
	}
	if len(owners) == 0 && unread != nil {
		return nil, nil, unread
	}
	if len(owners) == 0 {
		return nil, nil, fmt.Errorf("no etcd cluster%s; kubectl etcd list -A lists all", ui.ScopeText(namespace, s.Selector))
	}
	return owners, unread, nil
}

// Single returns the only cluster of the scope.
func (s Scope) Single(ctx context.Context, a *App) (owner.Owner, error) {
	owners, unread, err := s.Clusters(ctx, a)
	if err != nil {
		return owner.Owner{}, err
	}
	if len(owners) == 1 {
		return owners[0], unread // with what is not known, it need not be the only one
	}
	names := make([]string, len(owners))
	for i, o := range owners {
		names[i] = fmt.Sprintf("%s -n %s", o.Target(), o.Namespace)
	}
	slices.Sort(names)
	return owner.Owner{}, fmt.Errorf("there are %d etcd clusters; choose one of %s", len(owners), strings.Join(names, ", "))
}
