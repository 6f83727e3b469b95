// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sync/errgroup"
)

// StartNode boots a node that is off; one that runs stays as it is. It comes
// back with the disk that it had, cut off if it was. StartNode doesn't wait for
// the node to be Ready.
func (t *Testbed) StartNode(ctx context.Context, node string) error {
	spec, err := t.spec(node)
	if err != nil || spec.Running() != 0 {
		return err
	}
	sw, err := t.spec(controlPlane)
	if err != nil {
		return err
	}
	_, err = os.Stat(t.cutFile(node))
	return spec.Boot(ctx, t.helper(), sw, err == nil)
}

// StopNode shuts a node down as a computer is shut down: kubelet ends, then
// containers are asked to end, then killed.
func (t *Testbed) StopNode(ctx context.Context, node string) error {
	spec, err := t.spec(node)
	if err != nil {
		return err
	}
	return spec.Shutdown(ctx)
}

// KillNode ends every process of a node at once, as a power cut does.
func (t *Testbed) KillNode(ctx context.Context, node string) error {
	spec, err := t.spec(node)
	if err != nil {
		return err
	}
	return spec.PowerOff(ctx)
}

// PauseNode freezes every process of a node. Its kernel still answers, so that
// connections to it stay open and silent.
func (t *Testbed) PauseNode(_ context.Context, node string) error {
	spec, err := t.spec(node)
	if err != nil {
		return err
	}
	return spec.Pause()
}

// ResumeNode undoes PauseNode.
func (t *Testbed) ResumeNode(_ context.Context, node string) error {
	spec, err := t.spec(node)
	if err != nil {
		return err
	}
	return spec.Resume()
}

// CutNode takes a node's network cable out: it reaches no one and no one
// reaches it, while its own pods still reach one another.
func (t *Testbed) CutNode(_ context.Context, node string) error { return t.setCut(node, true) }

// HealNode undoes CutNode.
func (t *Testbed) HealNode(_ context.Context, node string) error { return t.setCut(node, false) }

func (t *Testbed) setCut(node string, cut bool) error {
	spec, err := t.spec(node)
	if err != nil {
		return err
	}
	if node == controlPlane {
		return fmt.Errorf("the control plane can't be cut off: it is the switch; cut nodes or stop its programs")
	}
	// The file holds for the node's next start.
	if err := t.rememberCut(node, cut); err != nil || spec.Running() == 0 {
		return err
	}
	sw, err := t.spec(controlPlane)
	if err != nil {
		return err
	}
	return spec.Cut(sw, cut)
}

func (t *Testbed) rememberCut(node string, cut bool) error {
	if cut {
		return os.WriteFile(t.cutFile(node), nil, 0o644)
	}
	if err := os.Remove(t.cutFile(node)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

// StartZone is StartNode for all nodes of a zone at once; so are the others.
func (t *Testbed) StartZone(ctx context.Context, zone string) error {
	return t.eachIn(ctx, zone, t.StartNode)
}

// StopZone is StopNode for all nodes of a zone.
func (t *Testbed) StopZone(ctx context.Context, zone string) error {
	return t.eachIn(ctx, zone, t.StopNode)
}

// KillZone is KillNode for all nodes of a zone.
func (t *Testbed) KillZone(ctx context.Context, zone string) error {
	return t.eachIn(ctx, zone, t.KillNode)
}

// PauseZone is PauseNode for all nodes of a zone.
func (t *Testbed) PauseZone(ctx context.Context, zone string) error {
	return t.eachIn(ctx, zone, t.PauseNode)
}

// ResumeZone is ResumeNode for all nodes of a zone.
func (t *Testbed) ResumeZone(ctx context.Context, zone string) error {
	return t.eachIn(ctx, zone, t.ResumeNode)
}

// CutZone is CutNode for all nodes of a zone: they don't reach one another
// either.
func (t *Testbed) CutZone(ctx context.Context, zone string) error {
	return t.eachIn(ctx, zone, t.CutNode)
}

// HealZone is HealNode for all nodes of a zone.
func (t *Testbed) HealZone(ctx context.Context, zone string) error {
	return t.eachIn(ctx, zone, t.HealNode)
}

func (t *Testbed) eachIn(ctx context.Context, zone string, do func(context.Context, string) error) error {
	g, ctx := errgroup.WithContext(ctx)
	found := false
	for _, n := range t.layout.Nodes {
		if n.Zone == zone {
			found = true
			g.Go(func() error { return do(ctx, n.Name) })
		}
	}
	if !found {
		return fmt.Errorf("testbed %s has no zone %q", t.layout.Name, zone)
	}
	return g.Wait()
}
