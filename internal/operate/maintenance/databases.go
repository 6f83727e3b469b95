// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// Databases returns a survey as the rules of maintenance need it: the members that have a pod, in the
// survey's order, then those of etcd's list that have none. It doesn't count snapshots.
func Databases(s etcd.Survey) []maintenance.Database {
	var all []maintenance.Database
	for _, m := range s.Members {
		d := maintenance.Database{
			Pod: m.Pod, Trouble: trouble(s, m), Learner: m.Learner, Leader: m.Leader, Applied: m.RaftApplied,
			Size: m.DBSize, InUse: m.DBSizeInUse, Quota: m.Quota, Alarms: m.Alarms,
		}
		if at := slices.IndexFunc(s.List, func(l etcd.Listed) bool { return l.Pod == m.Pod }); at >= 0 {
			d.Learner = s.List[at].Learner
		}
		all = append(all, d)
	}
	for _, l := range s.List {
		if l.Pod == "" {
			name := cmp.Or(l.Name, etcd.HexID(l.ID))
			trouble := "is in etcd's member list, and no pod of the cluster is known to run it"
			if other, answers := s.Other(l.ID); answers {
				trouble = "runs in pod " + other.Pod + " of another workload, and Kubernetes does not show it as part of this cluster"
			}
			all = append(all, maintenance.Database{Pod: name, Trouble: trouble, Learner: l.Learner})
		}
	}
	return all
}

func trouble(s etcd.Survey, m etcd.Member) string {
	switch {
	case m.Err != nil:
		return etcd.Reason(m.Err)
	case !s.Healthy(m):
		return unled(m)
	case s.ListErr != nil:
		return "can't read the member list: " + etcd.Reason(s.ListErr)
	}
	return ""
}

// unled returns why a member that answers is not healthy.
func unled(m etcd.Member) string {
	if m.LeaderID == 0 {
		return "follows no leader"
	}
	return "follows another leader than most members"
}

// withSnapshots returns Databases with the number of snapshots that clients are reading.
func withSnapshots(ctx context.Context, members *etcd.Cluster, s etcd.Survey) []maintenance.Database {
	all := Databases(s)
	var wait sync.WaitGroup
	for i := range all {
		if all[i].Trouble != "" {
			continue
		}
		wait.Go(func() {
			open, err := members.OpenSnapshots(ctx, all[i].Pod)
			if err != nil {
				open = -1
			}
			all[i].Snapshots = open
		})
	}
	wait.Wait()
	return all
}
