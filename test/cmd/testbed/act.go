// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// act is something that can be done to a node, to all nodes of a zone, or to a
// program; nil where it can't.
type act struct {
	name, short         string
	node, zone, program func(*testbed.Testbed, context.Context, string) error
}

var acts = []act{
	{"stop", "Shut down a node or zone, or end a program", (*testbed.Testbed).StopNode, (*testbed.Testbed).StopZone, (*testbed.Testbed).StopProcess},
	{"start", "Start a node, zone or program that is off", (*testbed.Testbed).StartNode, (*testbed.Testbed).StartZone, (*testbed.Testbed).StartProcess},
	{"kill", "Cut the power of a node or zone, or kill a program", (*testbed.Testbed).KillNode, (*testbed.Testbed).KillZone, (*testbed.Testbed).KillProcess},
	{"pause", "Freeze a node or zone", (*testbed.Testbed).PauseNode, (*testbed.Testbed).PauseZone, nil},
	{"resume", "Undo pause", (*testbed.Testbed).ResumeNode, (*testbed.Testbed).ResumeZone, nil},
	{"cut", "Take a node's or zone's network cables out", (*testbed.Testbed).CutNode, (*testbed.Testbed).CutZone, nil},
	{"heal", "Undo cut", (*testbed.Testbed).HealNode, (*testbed.Testbed).HealZone, nil},
}

func newActCmds(o *testbed.Options) []*cobra.Command {
	var cmds []*cobra.Command
	for _, a := range acts {
		use := a.name + " NODE|ZONE"
		if a.program != nil {
			use += "|[NODE/]PROGRAM"
		}
		cmds = append(cmds, &cobra.Command{
			Use:     use,
			Short:   a.short,
			GroupID: failures,
			Args:    cobra.ExactArgs(1),
			RunE: func(cmd *cobra.Command, args []string) error {
				t, err := testbed.Attach(cmd.Context(), *o)
				if err != nil {
					return err
				}
				return a.do(cmd.Context(), t, args[0])
			},
		})
	}
	return cmds
}

// do runs the act on the target, whose kind it derives from the name.
func (a act) do(ctx context.Context, t *testbed.Testbed, target string) error {
	switch {
	case slices.ContainsFunc(t.Nodes(), func(n testbed.Node) bool { return n.Name == target }):
		return a.node(t, ctx, target)
	case slices.Contains(t.Zones(), target):
		return a.zone(t, ctx, target)
	case a.program != nil:
		return a.program(t, ctx, target)
	}
	return fmt.Errorf("testbed %s has no node or zone %q", t.Name(), target)
}
