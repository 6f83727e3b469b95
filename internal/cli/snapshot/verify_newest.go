// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"fmt"
	"os"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/schedule"
)

// newest returns the file or URL of the snapshot that an argument names: itself, or the newest one of a folder
// or of a cluster's schedule.
func newest(ctx context.Context, a *app.App, arg string, flags storeFlags) (string, error) {
	stores := flags.of(a)
	if url, err := stores.Newest(ctx, arg); url != "" || err != nil {
		return url, err
	}
	if _, err := os.Stat(arg); err == nil {
		return arg, nil
	}
	c, err := a.Owner(ctx, arg)
	if err != nil {
		return "", fmt.Errorf("there is no file %s: %w", arg, err)
	}
	found, err := schedule.Readable(ctx, c.Kube, c.Owner)
	if err != nil {
		return "", err
	}
	return stores.NewestOf(ctx, c.Owner, found.To)
}
