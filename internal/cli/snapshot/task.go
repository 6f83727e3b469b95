// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// taskLimit is what druid gets for a task; its own limit for a full one is 15 minutes.
const taskLimit = 16 * time.Minute

// takeByTask has druid take it. What was written is not in the task: the leases tell.
//
// The client Service leads a task to any of the sidecars. One that isn't beside the
// leader passes it on, trusting etcd's authority alone: where backup-restore has one
// of its own that fails, which is answered by 405, and another task may fare better.
func takeByTask(ctx context.Context, e *app.App, c *app.Cluster, via snapshotVia) (task string, err error) {
	tries := 1
	if c.Replicas > 1 {
		tries = 5 * int(c.Replicas)
	}
	for try := 1; ; try++ {
		task, err := runTask(ctx, e, c, via)
		if err != nil {
			return "", err
		}
		name := task.Namespace + "/" + task.Name
		state, why := *task.Status.State, cmp.Or(lastError(task), "it doesn't say why")
		switch {
		case state == druidv1alpha1.TaskStateSucceeded:
			e.Step("EtcdOpsTask %s succeeded", name)
			if err := tellLease(ctx, e, c, via); err != nil {
				e.Warn("What it wrote isn't known: %v.", err)
			}
			return name, nil
		case try == tries || !strings.Contains(why, "status code: 405"):
			return "", fmt.Errorf("EtcdOpsTask %s: %s: %s", name, state, why)
		}
		change.PrintStep(e, "… EtcdOpsTask %s came to a sidecar that isn't the leader's and could not pass it on; asking again", name)
	}
}

// taskNeeds are the permissions to make a task and to see how it ends.
func taskNeeds(c *app.Cluster) []operate.Need {
	task := operate.Need{Verb: "create", Group: druidv1alpha1.GroupName, Resource: "etcdopstasks", Namespace: c.Namespace}
	seen := task
	seen.Verb = "get"
	return []operate.Need{task, seen}
}

func snapshotTask(c *app.Cluster, via snapshotVia) *druidv1alpha1.EtcdOpsTask {
	kind := druidv1alpha1.OnDemandSnapshotTypeFull
	if via == viaDelta {
		kind = druidv1alpha1.OnDemandSnapshotTypeDelta
	}
	return &druidv1alpha1.EtcdOpsTask{
		ObjectMeta: metav1.ObjectMeta{GenerateName: c.Name + "-" + kindOf(via) + "-", Namespace: c.Namespace},
		Spec: druidv1alpha1.EtcdOpsTaskSpec{
			EtcdName: &c.Name,
			Config:   druidv1alpha1.EtcdOpsTaskConfig{OnDemandSnapshot: &druidv1alpha1.OnDemandSnapshotConfig{Type: kind}},
		},
	}
}

// runTask makes a task and waits until it has ended.
func runTask(ctx context.Context, e *app.App, c *app.Cluster, via snapshotVia) (*druidv1alpha1.EtcdOpsTask, error) {
	task := snapshotTask(c, via)
	if err := c.Kube.Create(ctx, task); err != nil {
		return nil, fmt.Errorf("create an EtcdOpsTask for %s: %w", c.Owner, err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, taskLimit, app.TimedOut("EtcdOpsTask %s/%s has not ended within %s", task.Namespace, task.Name, taskLimit))
	defer cancel()
	for !task.IsCompleted() {
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-e.Clock.After(time.Second):
		}
		if err := c.Kube.Get(ctx, client.ObjectKeyFromObject(task), task); err != nil {
			return nil, fmt.Errorf("read EtcdOpsTask %s/%s: %w", task.Namespace, task.Name, err)
		}
	}
	return task, nil
}

func lastError(task *druidv1alpha1.EtcdOpsTask) string {
	errs := task.Status.LastErrors
	if len(errs) == 0 {
		return ""
	}
	return errs[len(errs)-1].Description
}

// tellLease says how far the store is by the lease.
func tellLease(ctx context.Context, e *app.App, c *app.Cluster, via snapshotVia) error {
	leases, err := c.Reader.BackupLeases(ctx, c.Owner)
	if err != nil {
		return err
	}
	for _, l := range leases {
		if (l.Type == "Delta") == (via == viaDelta) {
			e.Step("By its lease %s the store has revision %d since %s", l.Name, l.Revision, l.RenewedAt.UTC().Format(time.RFC3339))
			return nil
		}
	}
	return errors.New("no lease says what was written")
}

func taskObject(t druidv1alpha1.EtcdOpsTask) v1alpha1.SnapshotTask {
	kind := "Full"
	if t.Spec.Config.OnDemandSnapshot.Type == druidv1alpha1.OnDemandSnapshotTypeDelta {
		kind = "Delta"
	}
	out := v1alpha1.SnapshotTask{
		Name: t.Name, Type: kind, State: string(ptr.Deref(t.Status.State, "")), Message: lastError(&t),
		CreatedAt: t.CreationTimestamp, StartedAt: t.Status.StartedAt,
	}
	if out.Message == "" && t.Status.LastOperation != nil {
		out.Message = t.Status.LastOperation.Description
	}
	return out
}
