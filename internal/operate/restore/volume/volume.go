// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package volume gets the data of a member that never answers again from its volume. Without a quorum, an etcd that has
// restarted opens no client port, even if its data is whole. A pod that can't change the volume copies the files to this
// machine. An etcd that only this process reaches applies the log of the copy, and its database becomes a snapshot. The
// member and its volume stay as they are.
package volume

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot/trial"
)

// Saver saves the data of members from their volumes.
type Saver struct {
	Owner   owner.Owner
	Clients step.Clients
	// Etcd is the program etcd of this machine, and Version its version.
	Etcd, Version string
	// Logf reports what begins.
	Logf func(format string, args ...any)
}

// Needs returns the permissions to read volumes.
func Needs(o owner.Owner) []operate.Need {
	need := operate.NeedIn(o.Namespace)
	return []operate.Need{
		need("create", "", "pods", "", ""), need("get", "", "pods", "", ""), need("delete", "", "pods", "", ""),
		need("get", "", "pods", "exec", ""), need("create", "", "pods", "exec", ""), need("get", "", "persistentvolumeclaims", "", ""),
	}
}

// readyTimeout is how long the pod has to start.
const readyTimeout = 5 * time.Minute

// Save saves the data that a pod reads to a file, and returns the member as the file has it.
func (s *Saver) Save(ctx context.Context, pod restore.VolumePod, file string) (m etcd.Member, err error) {
	dir, err := os.MkdirTemp("", "kubectl-etcd-volume-")
	if err != nil {
		return m, err
	}
	defer func() {
		if failed := os.RemoveAll(dir); failed != nil {
			err = errors.Join(err, fmt.Errorf("remove the copy of the data: %w", failed))
		}
	}()
	started := s.Clients.Clock.Now()
	c := copied{data: filepath.Join(dir, "data")}
	if pod.WALDir != "" {
		c.log = filepath.Join(dir, "log")
	}
	if err := s.copyFrom(ctx, pod, c); err != nil {
		return m, err
	}
	database := filepath.Join(c.data, "member", "snap", "db")
	before, err := snapshot.Inspect(ctx, database)
	if err == nil {
		err = s.CheckRelease(before.ClusterVersion)
	}
	if err != nil {
		return m, fmt.Errorf("read the copy of the data of %s: %w", pod.Member, err)
	}
	s.Logf("Applying the log of the copy")
	found, err := trial.Apply(ctx, dir, c.data, c.log, s.Etcd)
	if err != nil {
		return m, fmt.Errorf("apply the log of %s: %w", pod.Member, err)
	}
	m = etcd.Member{Pod: pod.Member, Name: pod.MemberName, ID: found.ID, ClusterID: found.ClusterID, Version: found.Version}
	saved := backup.Saver{Owner: s.Owner, Members: []etcd.Member{m}, Started: started}
	out, err := saved.FromDatabase(ctx, database, file)
	if err == nil {
		m.Revision, m.Alarms = out.Revision, out.Alarms
	}
	return m, err
}

// copied is where the copy of a member's files is. Without a log, it is a part of the data.
type copied struct{ data, log string }

// copyFrom copies the files of a member with a pod that exists only for that.
func (s *Saver) copyFrom(ctx context.Context, pod restore.VolumePod, to copied) (err error) {
	s.Logf("Starting pod %s, which reads the volume of %s", pod.Name, pod.Member)
	if err := (step.CreatePod{Manifest: pod.Manifest}).Do(ctx, s.Clients); err != nil {
		if apierrors.IsAlreadyExists(err) {
			err = fmt.Errorf("%w. If no other command uses it: kubectl delete pod %s -n %s", err, pod.Name, s.Owner.Namespace)
		}
		return err
	}
	defer func() {
		gone := step.DeleteHelpers{Names: []string{pod.Name}, Of: string(s.Owner.UID)}.Do(context.WithoutCancel(ctx), s.Clients)
		if gone != nil {
			err = errors.Join(err, fmt.Errorf("delete the pod that reads the volume: %w", gone))
		}
	}()
	ready := step.Wait{Kind: step.Pod, Names: []string{pod.Name}, For: step.Condition("Ready"), Timeout: readyTimeout, ImageFlag: "--helper-image"}
	if err := ready.Do(ctx, s.Clients); err != nil {
		return err
	}
	s.Logf("Copying the data of %s", pod.Member)
	// The database before the log: a log that lacks what the database has is no log of it.
	parts := []step.FetchDir{{Pod: pod.Name, From: pod.DataDir, What: "member/snap", To: to.data}}
	if pod.WALDir == "" {
		parts = append(parts, step.FetchDir{Pod: pod.Name, From: pod.DataDir, What: "member/wal", To: to.data})
	} else {
		parts = append(parts, step.FetchDir{Pod: pod.Name, From: pod.WALDir, What: ".", To: to.log})
	}
	for _, part := range parts {
		if err := s.fetch(ctx, pod.Member, part); err != nil {
			return err
		}
	}
	return nil
}

// fetchTries is how often files are copied until the copy is the same. A member that runs may write to its log.
const fetchTries = 5

// fetch copies a directory until the copy is the same as what the volume has.
func (s *Saver) fetch(ctx context.Context, member string, d step.FetchDir) (err error) {
	for range fetchTries {
		if err = os.RemoveAll(filepath.Join(d.To, d.What)); err != nil {
			return err
		}
		err = d.Do(ctx, s.Clients)
		if err == nil {
			err = step.CompareDir{From: d.To, What: d.What, Pod: d.Pod, To: d.From}.Do(ctx, s.Clients)
		}
		if err == nil || context.Cause(ctx) != nil {
			return err
		}
	}
	return fmt.Errorf("%w. That was the last of %d tries: %s may still write. docs/guides/recovering-quorum.md shows under \"If no member answers\" how to copy its data after it has stopped", err, fetchTries, member)
}
