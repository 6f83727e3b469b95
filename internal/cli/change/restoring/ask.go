// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"context"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const (
	askTries = 4
	askPause = 10 * time.Second
)

// AskAgain calls ask until it reports that it has the answers that matter, a few times at most: on a busy machine, a
// member that runs may be too slow for one try.
func AskAgain(ctx context.Context, a *app.App, ask func() (again bool, err error)) error {
	for try := 1; ; try++ {
		again, err := ask()
		if err != nil || !again || try == askTries {
			return err
		}
		if try == 1 {
			a.Notef("Not all members that may have data answer. They are asked again, for %s", policy.Duration((askTries-1)*askPause))
		}
		if err := operate.Pause(ctx, a.Clock, askPause); err != nil {
			return err
		}
	}
}
