// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/suite"
)

var (
	// bed is a small testbed without etcd-webhook. Tests install and uninstall it, so they run
	// one after the other.
	bed *testbed.Testbed
	// admin is an administrator's client of bed.
	admin *kube
)

func TestMain(m *testing.M) {
	suite.Run(m, testbed.Options{Name: "kubectl-etcd-install", Nodes: 3, Zones: 3}, "INSTALL_TESTBED", func(_ context.Context, tb *testbed.Testbed) (err error) {
		bed = tb
		admin, err = connect(bed)
		return err
	}, RightsUsed("install"))
}
