// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package change

import "github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"

// ChangedMeanwhile refuses what was planned for another state of the cluster.
func ChangedMeanwhile(c *app.Cluster) error {
	return app.Refused("%s has changed since the plan was made: run the command again", c.Owner)
}
