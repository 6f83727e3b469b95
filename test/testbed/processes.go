// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
)

const apiServer = "kube-apiserver"

// StopAPIServer ends the API server and returns when it is gone. The cluster
// goes on as far as it can without.
func (t *Testbed) StopAPIServer(ctx context.Context) error { return t.StopProcess(ctx, apiServer) }

// StartAPIServer undoes StopAPIServer and returns when the API server answers.
func (t *Testbed) StartAPIServer(ctx context.Context) error {
	if err := t.StartProcess(ctx, apiServer); err != nil {
		return err
	}
	return t.waitAPIServer(ctx)
}

// StopProcess ends a program and keeps it down. A program of the control plane
// is named plainly, one of a node as NODE/NAME.
func (t *Testbed) StopProcess(ctx context.Context, process string) error {
	return t.send(ctx, process, (*machine.Spec).Stop)
}

// KillProcess is StopProcess without a chance to clean up.
func (t *Testbed) KillProcess(ctx context.Context, process string) error {
	return t.send(ctx, process, (*machine.Spec).Kill)
}

// StartProcess starts a program that was stopped, and doesn't wait for more
// than that. A program that ends by itself is started again after a second
// without being asked.
func (t *Testbed) StartProcess(ctx context.Context, process string) error {
	return t.send(ctx, process, (*machine.Spec).Start)
}

func (t *Testbed) send(ctx context.Context, process string, order func(*machine.Spec, context.Context, string) error) error {
	on, name, ok := strings.Cut(process, "/")
	if !ok {
		on, name = controlPlane, process
	}
	spec, err := t.spec(on)
	if err != nil {
		return err
	}
	if spec.Running() == 0 {
		return fmt.Errorf("%s is off", on)
	}
	return order(spec, ctx, name)
}

// bringBack starts whatever is down, and ends every pause and cut.
func (t *Testbed) bringBack(ctx context.Context) error {
	s := newSteps(t.log)
	fmt.Fprintf(t.log, "testbed %s is there already, in %s\n", t.layout.Name, t.Dir())
	if err := s.do("control plane answers", func() error {
		if err := t.startPrograms(ctx, controlPlane); err != nil {
			return err
		}
		if err := t.unplugged(ctx); err != nil {
			return err
		}
		return t.startControlPlane(ctx)
	}); err != nil {
		return err
	}
	return s.do("cluster is ready: nodes, DNS, storage", func() error {
		for _, n := range t.layout.Nodes {
			if err := t.bringBackNode(ctx, n.Name); err != nil {
				return err
			}
		}
		return t.waitReady(ctx)
	})
}

func (t *Testbed) bringBackNode(ctx context.Context, node string) error {
	for _, step := range []func(context.Context, string) error{t.ResumeNode, t.HealNode, t.StartNode, t.startPrograms} {
		if err := step(ctx, node); err != nil {
			return fmt.Errorf("bring back %s: %w", node, err)
		}
	}
	return nil
}

// startPrograms starts those programs of a running machine that were stopped.
func (t *Testbed) startPrograms(ctx context.Context, name string) error {
	spec, err := t.spec(name)
	if err != nil || spec.Running() == 0 {
		return err
	}
	for _, p := range spec.Processes {
		if err := spec.Start(ctx, p.Name); err != nil {
			return err
		}
	}
	return nil
}

// unplugged ends the nodes of a control plane that is off: their cables ended
// with it.
func (t *Testbed) unplugged(ctx context.Context) error {
	spec, err := t.spec(controlPlane)
	if err != nil || spec.Running() != 0 {
		return err
	}
	for _, n := range t.layout.Nodes {
		if err := t.KillNode(ctx, n.Name); err != nil {
			return err
		}
	}
	return nil
}
