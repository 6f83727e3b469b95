// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// Raised returns a survey of the members and the alarms that are raised.
func Raised(ctx context.Context, members *etcd.Cluster) (etcd.Survey, []etcd.Alarm, error) {
	survey, err := members.Survey(ctx)
	if err != nil {
		return survey, nil, err
	}
	alarms, err := Alarms(ctx, members, survey)
	return survey, alarms, err
}

// Meaning returns what the alarms of a cluster mean, and the command that repairs their cause.
func Meaning(cluster, namespace string, alarms []etcd.Alarm) string {
	corrupt := slices.DeleteFunc(slices.Clone(alarms), func(a etcd.Alarm) bool { return a.Type != maintenance.Corrupt })
	switch {
	case slices.ContainsFunc(corrupt, func(a etcd.Alarm) bool { return !a.Gone }):
		return fmt.Sprintf("etcd reports that the data of members differs. Find the member with kubectl etcd check %s -n %s, and replace it", cluster, namespace)
	case len(corrupt) > 0:
		return fmt.Sprintf("etcd accepts no writes, although the member with other data was removed. kubectl etcd alarm disarm %s -n %s compares the data of the other members and disarms the alarm", cluster, namespace)
	}
	return fmt.Sprintf("etcd accepts no writes. kubectl etcd defrag %s -n %s compacts and defragments the databases, and disarms the alarm", cluster, namespace)
}
