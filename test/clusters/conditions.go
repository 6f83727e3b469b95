// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The conditions of an Etcd that tests wait for.
const (
	Quorate         = string(druidv1alpha1.ConditionTypeReady)
	AllMembersReady = string(druidv1alpha1.ConditionTypeAllMembersReady)
	BackupReady     = string(druidv1alpha1.ConditionTypeBackupReady)
)

// Condition is one condition of an Etcd.
type Condition struct {
	Type, Status, Reason, Message string
	// Since is the time of the last change of the status. Updated is the time of druid's last
	// check.
	Since, Updated time.Time
}

// String returns the condition's type, status and reason.
func (c Condition) String() string { return fmt.Sprintf("%s=%s(%s)", c.Type, c.Status, c.Reason) }

// Etcd returns the Etcd of a druid cluster.
func (c *Cluster) Etcd(ctx context.Context) (*druidv1alpha1.Etcd, error) {
	var etcd druidv1alpha1.Etcd
	if err := c.kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: c.Name}, &etcd); err != nil {
		return nil, fmt.Errorf("read Etcd %s: %w", c, err)
	}
	return &etcd, nil
}

// Conditions returns the conditions of a druid cluster's Etcd in druid's order.
func (c *Cluster) Conditions(ctx context.Context) ([]Condition, error) {
	etcd, err := c.Etcd(ctx)
	if err != nil {
		return nil, err
	}
	return conditionsOf(etcd), nil
}

// Condition returns one condition of a druid cluster's Etcd, and whether the Etcd has it.
func (c *Cluster) Condition(ctx context.Context, kind string) (Condition, bool, error) {
	conditions, err := c.Conditions(ctx)
	if err != nil {
		return Condition{}, false, err
	}
	found, ok := pick(conditions, kind)
	return found, ok, nil
}

// AwaitCondition waits until the condition of a druid cluster has the status.
func (c *Cluster) AwaitCondition(ctx context.Context, limit time.Duration, kind, status string) error {
	what := fmt.Sprintf("%s of %s to be %s", kind, c, status)
	return Await(ctx, limit, what, func(ctx context.Context) (string, bool, error) {
		condition, ok, err := c.Condition(ctx, kind)
		if err != nil || !ok {
			return "no such condition", false, err
		}
		seen := fmt.Sprintf("%s: %s", condition, condition.Message)
		return seen, condition.Status == status, nil
	})
}

func conditionsOf(etcd *druidv1alpha1.Etcd) []Condition {
	conditions := make([]Condition, 0, len(etcd.Status.Conditions))
	for _, c := range etcd.Status.Conditions {
		conditions = append(conditions, Condition{
			Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message,
			Since: c.LastTransitionTime.Time, Updated: c.LastUpdateTime.Time,
		})
	}
	return conditions
}

func pick(conditions []Condition, kind string) (Condition, bool) {
	for _, c := range conditions {
		if c.Type == kind {
			return c, true
		}
	}
	return Condition{}, false
}

// summary lists conditions on one line.
func summary(conditions []Condition) string {
	parts := make([]string, len(conditions))
	for i, c := range conditions {
		parts[i] = c.String()
	}
	return strings.Join(parts, " ")
}
