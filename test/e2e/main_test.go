// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the whole behaviour on a real cluster: one testbed for all of
// its tests, each in namespaces of its own.
package e2e

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// keepVariable names a testbed that tests use, make if it is not there, and leave
// running, for whoever works on one test. Without it they make one and remove it.
const keepVariable = "E2E_TESTBED"

var (
	bed  *testbed.Testbed
	kube client.Client
)

func TestMain(m *testing.M) {
	o := testbed.Options{Name: "kubectl-etcd-e2e", Log: os.Stderr}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	tearDown := func() {
		if err := testbed.Down(context.WithoutCancel(ctx), o); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	}
	if name := os.Getenv(keepVariable); name != "" {
		o.Name, tearDown = name, func() {}
	}
	// Tests don't look at this context, so that they fail by themselves; who
	// interrupts them wants them gone, and nothing left behind.
	go func() {
		<-ctx.Done()
		tearDown()
		os.Exit(130)
	}()
	code := 1
	if err := setUp(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "set up the testbed for these tests:", err)
	} else {
		code = m.Run()
	}
	tearDown()
	os.Exit(code)
}

func setUp(ctx context.Context, o testbed.Options) (err error) {
	if bed, err = testbed.Up(ctx, o); err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, v1alpha1.AddToScheme} {
		if err := add(scheme); err != nil {
			return err
		}
	}
	config, err := bed.RESTConfig()
	if err != nil {
		return err
	}
	if kube, err = client.New(config, client.Options{Scheme: scheme}); err != nil {
		return err
	}
	together, run := errgroup.WithContext(ctx)
	together.Go(func() error { return clusters.InstallDruid(run, bed, clusters.DruidOptions{}) })
	together.Go(func() error { return install.Install(run, bed) })
	if err := together.Wait(); err != nil {
		return err
	}
	return beginShared(ctx)
}
