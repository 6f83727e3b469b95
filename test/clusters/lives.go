// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
)

// Lives contains what changes with a restart or with a write to the StatefulSet's spec.
type Lives struct {
	// Generation of the StatefulSet.
	Generation int64
	// Pods has each member's UID and its number of container restarts, by name.
	Pods map[string]string
}

// Lives returns what must not change if nothing restarts.
func (c *Cluster) Lives(ctx context.Context) (Lives, error) {
	sts, err := c.StatefulSet(ctx)
	if err != nil {
		return Lives{}, err
	}
	members, err := c.Members(ctx)
	if err != nil {
		return Lives{}, err
	}
	l := Lives{Generation: sts.Generation, Pods: map[string]string{}}
	for _, m := range members {
		restarts := 0
		for _, s := range m.Pod.Status.ContainerStatuses {
			restarts += int(s.RestartCount)
		}
		l.Pods[m.Pod.Name] = fmt.Sprintf("%s restarts %d", m.Pod.UID, restarts)
	}
	return l, nil
}
