// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e tests the whole project on a real cluster. All tests share one testbed, and each
// test has its own namespaces.
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

// TestMain starts all tests at once. Tests with clusters wait for capacity. A waiting test must
// not prevent other tests from running.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "200"); err != nil {
		panic(err)
	}
	suite.Run(m, testbed.Options{Name: "kubectl-etcd-e2e"}, "E2E_TESTBED", setUp, install.RightsUsed("e2e"), install.NoneForbidden)
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
