// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package guides types the commands of the README's tour and of the guides as they are written,
// on its own testbed, and compares their output.
package guides

import (
	"context"
	"os"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed/suite"
)

// etcdImage is the release that docs/guides/etcd.yaml runs.
const etcdImage = "v3.6.16"

var (
	bed *testbed.Testbed
	// installed are the paths of the programs that a reader has besides those of the testbed. etcdutl is of
	// the members' minor release.
	installed map[string]string
)

// TestMain prepares what a reader has: a cluster, a registry with the images, the plugin, and
// etcdutl for restores.
func TestMain(m *testing.M) {
	suite.Run(m, testbed.Options{Name: "kubectl-etcd-guides"}, "GUIDES_TESTBED", func(ctx context.Context, tb *testbed.Testbed) error {
		bed = tb
		together, run := errgroup.WithContext(ctx)
		together.Go(func() error {
			return images.Push(run, programs.Cache{}, bed.Registry(), []string{images.Webhook, images.Etcd(etcdImage), images.Busybox}, os.Stderr)
		})
		together.Go(func() error {
			paths, err := programs.Ensure(run, programs.Cache{}, []string{"kubectl-etcd", "etcdutl-3.6"}, os.Stderr)
			installed = map[string]string{"kubectl-etcd": paths["kubectl-etcd"], "etcdutl": paths["etcdutl-3.6"]}
			return err
		})
		return together.Wait()
	})
}
