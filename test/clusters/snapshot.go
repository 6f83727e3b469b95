// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// snapshotLimit is the timeout of a snapshot on demand. It takes a second, but druid retries
// during a leader change.
const snapshotLimit = 10 * time.Minute

// SnapshotFull has druid take a full snapshot now. After the repair of a broken store, this
// makes BackupReady True quickly. Otherwise it stays Unknown until the next full snapshot of the
// schedule.
//
// druid refuses a task while another task of the same Etcd runs. SnapshotFull then retries.
func (c *Cluster) SnapshotFull(ctx context.Context) error {
	var name, state string
	err := Await(ctx, snapshotLimit, fmt.Sprintf("a full snapshot of %s", c), func(ctx context.Context) (string, bool, error) {
		if name == "" {
			created, err := c.createSnapshotTask(ctx)
			if err != nil {
				return "", false, err
			}
			name = created
		}
		var task druidv1alpha1.EtcdOpsTask
		if err := c.kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &task); err != nil {
			return "", false, err
		}
		seen := fmt.Sprintf("task %s %s", name, taskState(&task))
		if task.Status.State == nil {
			return seen, false, nil
		}
		switch *task.Status.State {
		case druidv1alpha1.TaskStateRejected, druidv1alpha1.TaskStateFailed:
			name = ""
		case druidv1alpha1.TaskStateSucceeded:
			return seen, true, nil
		case druidv1alpha1.TaskStatePending, druidv1alpha1.TaskStateInProgress:
		}
		state = seen
		return seen, false, nil
	})
	if err != nil {
		return fmt.Errorf("%w (%s)", err, state)
	}
	return nil
}

func (c *Cluster) createSnapshotTask(ctx context.Context) (string, error) {
	ttl := int32(600)
	task := &druidv1alpha1.EtcdOpsTask{
		ObjectMeta: metav1.ObjectMeta{
			GenerateName: c.Name + "-full-", Namespace: c.Namespace,
			Labels: map[string]string{clusterLabel: c.Name},
		},
		Spec: druidv1alpha1.EtcdOpsTaskSpec{
			EtcdName:                &c.Name,
			TTLSecondsAfterFinished: &ttl,
			Config: druidv1alpha1.EtcdOpsTaskConfig{OnDemandSnapshot: &druidv1alpha1.OnDemandSnapshotConfig{
				Type: druidv1alpha1.OnDemandSnapshotTypeFull,
			}},
		},
	}
	if err := c.kube.Create(ctx, task); err != nil {
		return "", fmt.Errorf("create EtcdOpsTask in %s: %w", c.Namespace, err)
	}
	return task.Name, nil
}

func taskState(task *druidv1alpha1.EtcdOpsTask) string {
	if task.Status.State == nil {
		return "not yet seen by druid"
	}
	text := []string{string(*task.Status.State)}
	for _, e := range task.Status.LastErrors {
		text = append(text, e.Description)
	}
	return strings.Join(text, ": ")
}

// StoreDir returns the host's directory with the snapshots of a druid cluster.
func (c *Cluster) StoreDir() string {
	return filepath.Join(c.testbed.Shared(), bucketsDir, c.Container(), c.Name, "v2")
}

// Snapshots returns the names of the snapshots in the cluster's store, oldest first: Full-… and
// Incr-… files.
func (c *Cluster) Snapshots() ([]string, error) {
	entries, err := os.ReadDir(c.StoreDir())
	if err != nil && !os.IsNotExist(err) {
		return nil, fmt.Errorf("read store of %s: %w", c, err)
	}
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "Full-") || strings.HasPrefix(e.Name(), "Incr-") {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(strings.Compare(takenAt(a), takenAt(b)), strings.Compare(a, b))
	})
	return names, nil
}

// takenAt returns the end of a snapshot's name, which starts with its Unix time. A name has the
// kind, the first revision, the last revision and the time.
func takenAt(name string) string { return name[strings.LastIndex(name, "-")+1:] }
