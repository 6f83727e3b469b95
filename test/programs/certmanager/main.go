// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Command cert-manager runs cert-manager's controllers, its cainjector or its
// webhook, with the issuers that need no one else: self-signed and CA. It is for
// tests only and takes no flags: it runs in a pod, one replica of each, in the
// namespace cert-manager.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	logf "github.com/cert-manager/cert-manager/pkg/logs"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// namespace is where all of it runs.
const namespace = "cert-manager"

func main() {
	logf.InitLogs()
	ctrl.SetLogger(klog.Background())
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "cert-manager: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	parts := map[string]func(context.Context) error{"controller": runController, "cainjector": runInjector, "webhook": runWebhook}
	if len(args) != 1 || parts[args[0]] == nil {
		return fmt.Errorf("run %q: the argument must be controller, cainjector or webhook", args)
	}
	return parts[args[0]](ctx)
}
