// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package drains drains all nodes in turn. No other test could run beside it.
package drains

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/install"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/suite"
)

var (
	bed  *testbed.Testbed
	kube client.Client
)

func TestMain(m *testing.M) {
	suite.Run(m, testbed.Options{Name: "kubectl-etcd-drains"}, "DRAINS_TESTBED", setUp)
}

func setUp(ctx context.Context, tb *testbed.Testbed) (err error) {
	bed = tb
	if kube, err = install.Client(bed); err != nil {
		return err
	}
	return install.Install(ctx, bed)
}
