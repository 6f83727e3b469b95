// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package testbed

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// helper is the project's own program for machines.
const helper = "testbed-machine"

var (
	controlPrograms = []string{helper, "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "coredns"}
	nodePrograms    = []string{"containerd", "containerd-shim-runc-v2", "kubelet", "kube-proxy", "loopback", "ptp", "host-local", "portmap"}
	userPrograms    = []string{"kubectl", "etcdctl", "etcdutl", "ctr"}
)

// installPrograms puts everything that will run into the run directory. It
// builds first what the cache doesn't hold.
func (l layout) installPrograms(ctx context.Context, o Options) error {
	names := slices.Concat(controlPrograms, nodePrograms, userPrograms)
	paths, err := programs.Ensure(ctx, o.Cache, names, o.Log)
	if err != nil {
		return err
	}
	for _, dir := range []string{l.bin(), l.libexec()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	for _, name := range names {
		dir := l.libexec()
		if slices.Contains(userPrograms, name) {
			dir = l.bin()
		}
		if err := link(paths[name], dir, name); err != nil {
			return fmt.Errorf("install %s: %w", name, err)
		}
	}
	return nil
}
