// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drainplan

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/drain"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/drain/kubectl"
)

// newJob returns the job of the command.
func newJob(a *app.App, o options) (*drain.Job, error) {
	kube, err := a.Client()
	if err != nil {
		return nil, err
	}
	reader, err := a.Reader()
	if err != nil {
		return nil, err
	}
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	code, err := kubectl.New(config, o.pods, a.ErrOut)
	if err != nil {
		return nil, err
	}
	namespace, err := a.Namespace()
	if err != nil {
		return nil, err
	}
	return &drain.Job{
		Kube: kube, Reader: reader, Kubectl: code, Clock: a.Clock,
		Namespace: namespace, GracePeriod: o.pods.GracePeriod, Logf: func(format string, args ...any) { change.PrintStep(a, format, args...) },
	}, nil
}

// nodesOf returns the names of the nodes that the arguments or the selector choose.
func nodesOf(ctx context.Context, a *app.App, args []string, selector string) ([]string, error) {
	if selector == "" {
		return named(a, args), nil
	}
	kube, err := a.Client()
	if err != nil {
		return nil, err
	}
	return drain.Select(ctx, kube, selector)
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
