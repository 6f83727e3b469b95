// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"sync"
)

// OwnLists returns the list of each single member of a survey by pod. The list of a member without
// a connection to the others may be old. A member that doesn't answer has none.
func (c *Cluster) OwnLists(ctx context.Context, members []Member) (map[string][]Listed, error) {
	lists := map[string][]Listed{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	for _, m := range members {
		if m.ID == 0 {
			continue
		}
		wait.Go(func() {
			own, err := c.OwnList(ctx, m.Pod)
			if err != nil {
				return // the survey has the status of this member
			}
			mu.Lock()
			defer mu.Unlock()
			lists[m.Pod] = own
		})
	}
	wait.Wait()
	return lists, context.Cause(ctx)
}
