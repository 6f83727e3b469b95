// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// taskTimeout is how long a task may take. druid's own limit for a full snapshot is 15 minutes.
const taskTimeout = 16 * time.Minute

// timeoutError is a task that has not ended in time.
type timeoutError struct{ message string }

func (e *timeoutError) Error() string { return e.message }

// Is reports whether target is context.DeadlineExceeded.
func (e *timeoutError) Is(target error) bool { return target == context.DeadlineExceeded }

// taskObstacle returns why a task of etcd-druid would fail, empty if nothing is known. If the
// user may not list Services, the task itself reports it.
func (s *Store) taskObstacle(ctx context.Context) string {
	facts, err := s.Reader.Cluster(ctx, s.Owner)
	if err != nil || !facts.TrafficCut {
		return ""
	}
	return fmt.Sprintf("a task of etcd-druid reaches backup-restore by the client Service, which is cut: kubectl etcd restore-client-traffic %s -n %s", s.Target(), s.Namespace)
}

// takeByTask has etcd-druid take the snapshot. The task doesn't contain what was written, but
// the leases show it.
//
// The client Service leads a task to any of the sidecars. One that isn't beside the leader
// forwards the request and trusts only etcd's authority. If backup-restore has its own
// authority, that fails with status 405, and another task may succeed.
func (s *Store) takeByTask(ctx context.Context, kind Kind) (string, error) {
	attempts := 1
	if s.Replicas > 1 {
		attempts = 5 * int(s.Replicas)
	}
	for attempt := 1; ; attempt++ {
		task, err := s.runTask(ctx, kind)
		if err != nil {
			return "", err
		}
		name := task.Namespace + "/" + task.Name
		state, why := *task.Status.State, cmp.Or(LastError(task), "it reports no reason")
		switch {
		case state == druidv1alpha1.TaskStateSucceeded:
			s.Logf("EtcdOpsTask %s succeeded", name)
			if err := s.reportLease(ctx, kind); err != nil {
				s.Warnf("What it wrote isn't known: %v.", err)
			}
			return name, nil
		case attempt == attempts || !strings.Contains(why, "status code: 405"):
			return "", fmt.Errorf("EtcdOpsTask %s: %s: %s", name, state, why)
		}
		s.Progressf("EtcdOpsTask %s reached a sidecar that isn't the leader's and could not forward it; asking again", name)
	}
}

// taskNeeds returns the permissions to create a task and to see how it ends.
func (s *Store) taskNeeds() []operate.Need {
	create := operate.Need{Verb: "create", Group: druidv1alpha1.GroupName, Resource: "etcdopstasks", Namespace: s.Namespace}
	get := create
	get.Verb = "get"
	return []operate.Need{create, get}
}

func (s *Store) task(kind Kind) *druidv1alpha1.EtcdOpsTask {
	wanted := druidv1alpha1.OnDemandSnapshotTypeFull
	if kind == Delta {
		wanted = druidv1alpha1.OnDemandSnapshotTypeDelta
	}
	name := s.Name
	return &druidv1alpha1.EtcdOpsTask{
		ObjectMeta: metav1.ObjectMeta{GenerateName: fmt.Sprintf("%s-%s-", name, kind), Namespace: s.Namespace},
		Spec: druidv1alpha1.EtcdOpsTaskSpec{
			EtcdName: &name,
			Config:   druidv1alpha1.EtcdOpsTaskConfig{OnDemandSnapshot: &druidv1alpha1.OnDemandSnapshotConfig{Type: wanted}},
		},
	}
}

// runTask creates a task and waits until it has ended.
func (s *Store) runTask(ctx context.Context, kind Kind) (*druidv1alpha1.EtcdOpsTask, error) {
	task := s.task(kind)
	if err := s.Kube.Create(ctx, task); err != nil {
		return nil, fmt.Errorf("create an EtcdOpsTask for %s: %w", s.Owner, err)
	}
	for end := s.Clock.Now().Add(taskTimeout); !task.IsCompleted(); {
		if s.Clock.Now().After(end) {
			return nil, &timeoutError{fmt.Sprintf("EtcdOpsTask %s/%s has not ended within %s", task.Namespace, task.Name, policy.Duration(taskTimeout))}
		}
		if err := operate.Pause(ctx, s.Clock, time.Second); err != nil {
			return nil, err
		}
		if err := s.Kube.Get(ctx, client.ObjectKeyFromObject(task), task); err != nil {
			return nil, fmt.Errorf("read EtcdOpsTask %s/%s: %w", task.Namespace, task.Name, err)
		}
	}
	return task, nil
}

// LastError returns the last error of a task, empty if there is none.
func LastError(task *druidv1alpha1.EtcdOpsTask) string {
	errs := task.Status.LastErrors
	if len(errs) == 0 {
		return ""
	}
	return errs[len(errs)-1].Description
}

// reportLease reports from a lease which revision the store has.
func (s *Store) reportLease(ctx context.Context, kind Kind) error {
	leases, err := backupstore.Leases(ctx, s.Reader, s.Owner)
	if err != nil {
		return err
	}
	for _, l := range leases {
		if (l.Type == "Delta") == (kind == Delta) {
			s.Logf("According to its lease %s, the store has had revision %d since %s", l.Name, l.Revision, format.Time(l.RenewedAt))
			return nil
		}
	}
	return errors.New("no lease shows what was written")
}
