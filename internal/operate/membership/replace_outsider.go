// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// checkOutsider checks whether the data of a pod that etcd's member list doesn't have may be deleted. That list is the
// one of the members that answer. A pod that does not answer may have the data of a cluster that the list is not of.
func (m *Members) checkOutsider(ctx context.Context, s *observation, pod string, force bool, f *operate.Findings) error {
	lost, why, err := m.dataLost(ctx, s, pod)
	switch {
	case err != nil:
		return err
	case lost:
		f.Fact("%s is not a member of etcd now: %s", pod, why)
	case !force:
		f.Refuse("etcd's member list doesn't have %[1]s, which does not answer, and its data seems to exist (%[2]s): it may be a member of another cluster than those that answer. See its log: kubectl logs %[1]s -n %[3]s --all-containers --tail 50. --force deletes its data",
			pod, why, m.Owner.Namespace)
	default:
		f.Warn("The data of %s may still exist (%s), and is deleted. etcd's member list doesn't have it.", pod, why)
	}
	return nil
}
