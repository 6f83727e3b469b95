// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Command etcd-webhook keeps etcd clusters in Kubernetes apart and their
// disruption budgets where quorum needs them. Every replica answers admission
// reviews; the one that leads runs the controllers.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"syscall"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kubectl-etcd/kubectl-etcd/internal/version"
)

func main() {
	os.Exit(run(ctrl.SetupSignalHandler(), os.Args[1:], os.Stdout, os.Stderr))
}

// run is the whole program: 0 when it was told to stop or only asked something, 1
// when it failed, 2 when its command line makes no sense.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "etcd-webhook: %v\n", err)
		return 2
	case o.version:
		fmt.Fprintln(stdout, version.Get().Version)
		return 0
	}
	err = serve(ctx, o, stderr)
	if err == nil {
		return 0
	}
	fmt.Fprintf(stderr, "etcd-webhook: %v\n", err)
	if errors.Is(err, errLost) && ctx.Err() == nil {
		err = again()
		fmt.Fprintf(stderr, "etcd-webhook: cannot begin anew: %v\n", err)
	}
	return 1
}

// again has the program begin anew in its own place, and returns only if that can't be.
// The kubelet would wait before it starts a container again, five minutes in the end: on
// a control plane that stalls, every replica loses the lease now and then, and all of
// them would wait at once.
func again() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, os.Environ()) //nolint:gosec // itself
}
