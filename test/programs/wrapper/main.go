// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Command etcd-wrapper stands in for Gardener's program of that name, which can't
// be built from a module proxy. It keeps its contract with etcd-druid and
// etcd-backup-restore: flags, order of requests, files, HTTP endpoints and exit
// codes. It asks the backup-restore beside it to prepare the data, fetches etcd's
// configuration from it, and runs etcd inside this process. It is for tests only.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

func main() {
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background()) //nolint:forbidigo // main
	exit := os.Exit                                         //nolint:forbidigo // main
	exit(run(ctx, cancel, os.Args[1:], os.Stderr, signals, exit))
}

// run is main with its surroundings as arguments; it returns the exit code, and
// calls exit only where it can't return in time.
func run(ctx context.Context, cancel context.CancelFunc, args []string, stderr io.Writer, signals <-chan os.Signal, exit func(int)) int {
	opts, err := parse(args, stderr)
	if err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(stderr, err)
		}
		return 1
	}
	home, err := os.UserHomeDir()
	if err != nil {
		fmt.Fprintf(stderr, "find the home directory: %v\n", err)
		return 1
	}
	w := &wrapper{
		options:    opts,
		folder:     "/var/etcd/data",
		configFile: filepath.Join(home, "etcd.conf.yaml"),
		pause:      time.Second,
		log:        slog.New(slog.NewTextHandler(stderr, nil)),
		stop:       cancel,
	}
	go w.obey(signals, func() { exit(1) })
	if err := w.run(ctx); err != nil {
		w.log.Error("etcd was not started", "err", err)
		return 1
	}
	return 0
}
