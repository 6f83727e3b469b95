// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Command snapshot-bench measures kubectl etcd snapshot save beside etcdctl snapshot
// save over kubectl port-forward: the same member, alternating, the same database.
// It runs on a testbed that is up, and makes a cluster there.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// limit is the contract: how much longer than etcdctl the transfer may take.
const limit = 1.2

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	var o testbed.Options
	var b bench
	flags := flag.NewFlagSet("snapshot-bench", flag.ContinueOnError)
	flags.StringVar(&o.Name, "name", os.Getenv("E2E_TESTBED"), "the testbed")
	flags.StringVar(&b.namespace, "namespace", "snapshot-bench", "of the cluster, which is made where it is missing")
	flags.Int64Var(&b.size, "size", 1<<30, "of the database, in bytes")
	flags.IntVar(&b.rounds, "rounds", 5, "of each")
	flags.BoolVar(&b.keep, "keep", false, "leave the cluster there for another run")
	if err := flags.Parse(args); err != nil {
		return err
	}
	t, err := testbed.Attach(ctx, o)
	if err != nil {
		fmt.Fprintf(out, "snapshot-bench: skipped, since it needs a testbed that is up: %v\n", err)
		return nil
	}
	b.bed, b.log = t, progress
	ours, theirs, err := b.run(ctx)
	if err != nil {
		return err
	}
	return report(out, b.size, ours, theirs)
}

// sample is one transfer.
type sample struct {
	// transfer is the bytes on disk, durable; verify what was checked after
	// that; whole is the process from start to end.
	transfer, verify, whole time.Duration
}

func report(out io.Writer, size int64, ours, theirs []sample) error {
	transfer := func(s sample) time.Duration { return s.transfer }
	a, b := median(ours, transfer), median(theirs, transfer)
	fmt.Fprintf(out, "database %d MiB, %s, %d CPUs, median of %d\n", size>>20, time.Now().UTC().Format(time.DateOnly), runtime.NumCPU(), len(ours))
	rate := func(d time.Duration) float64 { return float64(size>>20) / d.Seconds() }
	fmt.Fprintf(out, "%-44s %6.2f s  %6.1f MiB/s\n", "kubectl etcd snapshot save, transfer", a.Seconds(), rate(a))
	fmt.Fprintf(out, "%-44s %6.2f s\n", "  its checks after that", median(ours, func(s sample) time.Duration { return s.verify }).Seconds())
	fmt.Fprintf(out, "%-44s %6.2f s\n", "  the whole command", median(ours, func(s sample) time.Duration { return s.whole }).Seconds())
	fmt.Fprintf(out, "%-44s %6.2f s  %6.1f MiB/s\n", "etcdctl snapshot save, kubectl port-forward", b.Seconds(), rate(b))
	ratio := a.Seconds() / b.Seconds()
	fmt.Fprintf(out, "ratio %.2f, at most %.1f\n", ratio, limit)
	if ratio > limit {
		return fmt.Errorf("the transfer takes %.2f times etcdctl's, more than %.1f", ratio, limit)
	}
	return nil
}

func median(samples []sample, of func(sample) time.Duration) time.Duration {
	all := make([]time.Duration, len(samples))
	for i, s := range samples {
		all[i] = of(s)
	}
	slices.Sort(all)
	return all[len(all)/2]
}
