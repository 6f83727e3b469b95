// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Command etcd-webhook spreads the members of etcd clusters in Kubernetes and keeps their
// disruption budgets at the value that quorum requires. Every replica answers admission
// reviews; the leader also runs the controllers.
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

// run runs the program and returns its exit code: 0 after a signal, -version or -help, 1 after
// a failure, and 2 for an invalid command line.
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
	if errors.Is(err, errLeaseLost) && ctx.Err() == nil {
		err = restart()
		fmt.Fprintf(stderr, "etcd-webhook: cannot restart: %v\n", err)
	}
	return 1
}

// restart replaces the process by a new one of the same program, and returns only if that
// fails. The kubelet would wait before it restarts the container, up to five minutes. On a
// slow control plane every replica loses the lease from time to time, and all of them could
// wait at the same time.
func restart() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, os.Environ()) //nolint:gosec // this program
}
