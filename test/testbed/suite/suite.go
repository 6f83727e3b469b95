// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package suite runs a package's tests on a testbed of their own.
package suite

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// Run is the body of a TestMain: it starts the testbed, prepares it, runs the
// tests and removes it, also when it is interrupted. It ends the process.
//
// The environment variable keep names a testbed to use instead, which is made
// if it is not there and left running, for work on one test.
//
// What comes after inspects a testbed on which every test of the package has passed, but for
// those that -skip names.
func Run(m *testing.M, o testbed.Options, keep string, prepare func(context.Context, *testbed.Testbed) error, after ...func(*testbed.Testbed) error) {
	o.Log = os.Stderr
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt) //nolint:forbidigo // this is all of a TestMain
	defer stop()
	tearDown := func() {
		if err := testbed.Down(context.WithoutCancel(ctx), o); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if name := os.Getenv(keep); name != "" {
		o.Name, tearDown = name, func() {}
	}
	// Tests don't use this context, so that they fail by themselves; who
	// interrupts them wants them gone, and nothing left behind.
	go func() {
		<-ctx.Done()
		tearDown()
		os.Exit(130) //nolint:forbidigo // as above
	}()
	code := 1
	bed, err := start(ctx, o, prepare)
	if err != nil {
		fmt.Fprintln(os.Stderr, "set up the testbed for these tests:", err)
	} else {
		code = m.Run()
	}
	if some := flag.Lookup("test.run").Value.String() != ""; !some && code == 0 {
		code = verify(bed, after)
	}
	tearDown()
	os.Exit(code) //nolint:forbidigo // as above
}

func start(ctx context.Context, o testbed.Options, prepare func(context.Context, *testbed.Testbed) error) (*testbed.Testbed, error) {
	bed, err := testbed.Up(ctx, o)
	if err != nil {
		return nil, err
	}
	return bed, prepare(ctx, bed)
}

func verify(bed *testbed.Testbed, after []func(*testbed.Testbed) error) (code int) {
	for _, check := range after {
		if err := check(bed); err != nil {
			fmt.Fprintln(os.Stderr, "all tests have passed, but:", err)
			code = 1
		}
	}
	return code
}
