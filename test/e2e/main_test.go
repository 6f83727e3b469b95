// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e holds the whole behaviour on a real cluster: one testbed for all of
// its tests, each in namespaces of its own.
package e2e

import (
	"context"
	"flag"
	"testing"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/suite"
)

var (
	bed  *testbed.Testbed
	kube client.Client
)

// TestMain lets all tests begin: those with clusters wait for room among themselves, and
// who waits must keep no one out.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "200"); err != nil {
		panic(err)
	}
	suite.Run(m, testbed.Options{Name: "kubectl-etcd-e2e"}, "E2E_TESTBED", setUp, install.RightsUsed("e2e"))
}

func setUp(ctx context.Context, tb *testbed.Testbed) (err error) {
	bed = tb
	if kube, err = install.Client(bed); err != nil {
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
