// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/machine"
)

// Up starts a testbed and returns when all of it works: every node is Ready,
// names resolve, and a pod could run. One that is there already is brought back
// to that state with all its data, whatever is stopped, paused or cut off in it;
// one that an earlier Up left half made is made again.
//
// When Up fails, what it made stays, so that the logs can be read, until Down.
func Up(ctx context.Context, o Options) (*Testbed, error) {
	asked := o
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	if err := requireRoot(); err != nil {
		return nil, err
	}
	if dir := machine.Testbeds()[o.Name]; dir != "" && dir != o.dir() {
		return nil, fmt.Errorf("the name %s is in use by a testbed at %s: choose another with --name, "+
			"inspect it with --state-dir %s, or stop it with `testbed down --name %s`", o.Name, dir, filepath.Dir(dir), o.Name)
	}
	if err := requireTools(ctx, o.Log); err != nil {
		return nil, err
	}
	unlock, err := lock(ctx, o.dir())
	if err != nil {
		return nil, fmt.Errorf("start testbed %s: %w", o.Name, err)
	}
	defer unlock()
	if err := raiseLimits(ctx, o.Name); err != nil {
		return nil, err
	}
	t, err := up(ctx, asked, o)
	if err != nil {
		return nil, fmt.Errorf("start testbed %s: %w\nlogs are in %s; `testbed down --name %s` removes it", o.Name, err, filepath.Join(o.dir(), "logs"), o.Name)
	}
	return t, nil
}

func up(ctx context.Context, asked, o Options) (*Testbed, error) {
	l, err := loadLayout(o.dir())
	switch {
	case err == nil && l.Complete:
		if err := l.fits(asked); err != nil {
			return nil, err
		}
		t := &Testbed{layout: l, log: o.Log}
		return t, t.bringBack(ctx)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err := clean(ctx, o); err != nil { // of an Up that was interrupted
		return nil, err
	}
	return create(ctx, o)
}

// fits reports whether an existing testbed is what was asked for; what wasn't
// printed may be anything.
func (l layout) fits(asked Options) error {
	if asked.Nodes != 0 && asked.Nodes != len(l.Nodes) || asked.Zones != 0 && asked.Zones != len(l.zones()) ||
		asked.Subnet.IsValid() && asked.Subnet.Masked() != l.Subnet {
		return fmt.Errorf("it is there already with %d nodes in %d zones on %s: stop it first, or choose another name",
			len(l.Nodes), len(l.zones()), l.Subnet)
	}
	return nil
}

func create(ctx context.Context, o Options) (*Testbed, error) {
	s := newSteps(o.Log)
	l, err := plan(ctx, o)
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(o.Log, "testbed %s: %d nodes in %d zones on %s, in %s\n", l.Name, len(l.Nodes), len(l.zones()), l.Subnet, l.Dir)
	t := &Testbed{layout: l, log: o.Log}
	if err := s.do("programs are built and in place", func() error { return l.installPrograms(ctx, o) }); err != nil {
		return nil, err
	}
	if err := s.do("certificates and configuration are written", func() error {
		return errors.Join(l.writeCredentials(), l.writeFiles())
	}); err != nil {
		return nil, err
	}
	if err := s.do("control plane answers", func() error { return t.startControlPlane(ctx) }); err != nil {
		return nil, err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.Go(func() error { return t.applyObjects(gctx) })
	g.Go(func() error { return images.Push(gctx, o.Cache, l.registry(), []string{images.Pause}, o.Log) })
	for _, n := range l.Nodes {
		g.Go(func() error { return t.StartNode(gctx, n.Name) })
	}
	if err := s.do(fmt.Sprintf("%d nodes are started", len(l.Nodes)), g.Wait); err != nil {
		return nil, err
	}
	if err := s.do("cluster is ready: nodes, DNS, storage", func() error { return t.waitReady(ctx) }); err != nil {
		return nil, err
	}
	t.Complete = true
	return t, t.save()
}

// plan decides on a layout and saves it while no other testbed can take the
// same subnet.
func plan(ctx context.Context, o Options) (layout, error) {
	unlock, err := lock(ctx, o.StateDir)
	if err != nil {
		return layout{}, err
	}
	defer unlock()
	taken, err := takenSubnets(o.StateDir)
	if err != nil {
		return layout{}, err
	}
	subnet, err := freeSubnet(o.Subnet, taken)
	if err != nil {
		return layout{}, err
	}
	l := newLayout(o, subnet)
	return l, l.save()
}

// startControlPlane starts its machine, links the host to it and waits for the
// API server.
func (t *Testbed) startControlPlane(ctx context.Context) error {
	spec, err := machine.Load(t.Dir(), controlPlane)
	if err != nil {
		return err
	}
	if spec.Running() == 0 {
		if err := spec.Boot(ctx, t.helper(), nil, false); err != nil {
			return err
		}
		if err := spec.PlugHost(ctx, t.hostLink(), t.hostAddress()+"/24"); err != nil {
			return err
		}
	}
	return t.waitAPIServer(ctx)
}

// applyObjects makes what a testbed's cluster has from the start. On a machine that is
// overloaded the connection to the API server may break, so it is tried again.
func (t *Testbed) applyObjects(ctx context.Context) error {
	var failed error
	for range 5 {
		cmd := exec.CommandContext(ctx, t.Kubectl(), "apply", "--server-side", "-f", filepath.Join(t.home(controlPlane), "objects.yaml"))
		key, value := machine.Mark(t.layout.Name) // so that Down finds it when this process is killed
		cmd.Env = append(os.Environ(), "KUBECONFIG="+t.Kubeconfig(), key+"="+value)
		out, err := cmd.CombinedOutput()
		if err == nil {
			return os.WriteFile(t.appliedFile(), nil, 0o644)
		}
		failed = fmt.Errorf("apply the testbed's objects: %w\n%s", err, out)
	}
	return failed
}
