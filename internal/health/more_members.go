// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"cmp"
	"fmt"
)

// mayHaveMore returns the finding about budgets of a cluster of which one member is known and that may
// have more: no number is right then, and none is wrong. etcd's own list decides where it is known.
func (f *Facts) mayHaveMore() ([]Finding, bool) {
	c := f.Cluster.Value.Cluster
	if f.Size() != 1 || c.Single() || f.listKnown() && f.voters().total == 1 {
		return nil, false
	}
	why := cmp.Or(c.SizeUnknown, fmt.Sprintf("it may have %d", c.Size))
	return []Finding{{Level: Unknown, Message: "one member is known, and not which others the cluster has: " + why, repeated: true}}, true
}
