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
	if err := serve(ctx, o, stderr); err != nil {
		fmt.Fprintf(stderr, "etcd-webhook: %v\n", err)
		return 1
	}
	return 0
}
