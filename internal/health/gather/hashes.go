// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// hashTimeout limits how long the members take to hash their data.
const hashTimeout = 2 * time.Minute

func (g *gatherer) hashes(ctx context.Context, cluster *etcd.Cluster) (health.Hashes, error) {
	var voters []etcd.Member
	var most int64
	clusters := map[uint64]bool{}
	for _, m := range g.Responding() {
		if !m.Learner {
			voters = append(voters, m)
			clusters[m.ClusterID] = true
			most = max(most, m.DBSize)
		}
	}
	switch {
	case len(voters) < 2:
		return health.Hashes{Skipped: policy.Plural(len(voters), "voter answers", "voters answer") + ": there is nothing to compare"}, nil
	case len(clusters) > 1:
		return health.Hashes{Skipped: fmt.Sprintf("the voters belong to %d clusters, each with its own data", len(clusters)), Fix: g.Command("check", "--only Q005")}, nil
	case most > maintenance.HashLimit && !g.HashLarge:
		return health.Hashes{Skipped: "not asked for: a database has " + policy.Bytes(most), Fix: g.Command("check", "--only D004 --hash-large")}, nil
	}
	g.progress("hashing the data of " + g.Owner.String())
	ctx, cancel := context.WithTimeout(ctx, hashTimeout)
	defer cancel()
	h, err := cluster.Hashes(ctx, voters, g.Clock)
	return health.Hashes{Hashes: h}, err
}
