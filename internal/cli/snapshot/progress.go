// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// saver is one run of snapshot save.
type saver struct {
	a       *app.App
	c       *app.Cluster
	members []etcd.Member
	began   time.Time
	save    snapshot.Saver
	bar     *ui.Progress
	shown   int64
}

func newSaving(a *app.App, c *app.Cluster, order []etcd.Member, f saveOptions) *saver {
	s := &saver{a: a, c: c, members: order, began: a.Clock.Now()}
	s.save = etcd.SnapshotSave{Retries: f.retries, Idle: f.idle, Begin: s.begin, Progress: s.progress, Verifying: s.verifying, Again: s.again}
	for _, m := range order {
		s.save.Sources = append(s.save.Sources, c.Members.SnapshotSource(m.Pod))
	}
	return s
}

func (s *saver) begin(pod string, total int64) {
	m := s.member(pod)
	fmt.Fprintf(s.a.ErrOut, "Saving %s of %s (%s, etcd %s)\n", ui.Bytes(total), pod, roleOf(m), m.Version)
	s.bar, s.shown = s.a.NewProgress("snapshot", total), 0
}

func (s *saver) progress(done int64) {
	s.bar.Add(done - s.shown)
	s.shown = done
}

func (s *saver) verifying() {
	s.endBar()
	fmt.Fprintln(s.a.ErrOut, "Checking the database")
}

func (s *saver) again(_ string, err error) {
	s.endBar()
	s.a.Warn("%v. Beginning anew.", err)
}

func (s *saver) endBar() {
	if s.bar != nil {
		s.bar.Finish()
		s.bar = nil
	}
}

func (s *saver) member(pod string) etcd.Member {
	i := slices.IndexFunc(s.members, func(m etcd.Member) bool { return m.Pod == pod })
	return s.members[i]
}

func roleOf(m etcd.Member) string {
	switch {
	case m.Leader:
		return "leader"
	case m.Learner:
		return "learner"
	}
	return "follower"
}

// toStdout sends the snapshot on. What can be said of it goes to stderr.
func (s *saver) toStdout(ctx context.Context) error {
	got, err := s.save.ToWriter(ctx, s.a.Out)
	s.endBar()
	if err != nil {
		return fmt.Errorf("what was written is no snapshot: %w", err)
	}
	s.a.Step("%d bytes sent, the hash fits: SHA-256 %x of the %d before it", got.Size, got.SHA256, got.Size-32)
	return nil
}

func (s *saver) toFile(ctx context.Context, cmd *cobra.Command, file string, force bool) error {
	var out *v1alpha1.Snapshot
	_, err := s.save.ToFile(ctx, file, force, func(got snapshot.Saved) ([]byte, error) {
		out = s.describe(file, got)
		beside := out.DeepCopy()
		beside.File = filepath.Base(file)
		beside.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Snapshot"))
		text, err := json.MarshalIndent(beside, "", "  ")
		return append(text, '\n'), err
	})
	s.endBar()
	if err != nil {
		return err
	}
	s.a.Step("Saved and verified %s", file)
	return s.a.Print(cmd, out, func(w io.Writer, _ bool) error { return writeSnapshot(w, out) })
}

func (s *saver) describe(file string, got etcd.Saved) *v1alpha1.Snapshot {
	m := s.member(got.Pod)
	out := snapshotObject(file, snapshot.File{Size: got.Size, Hashed: true, SHA256: got.SHA256, Content: *got.Content})
	out.Origin = &v1alpha1.SnapshotOrigin{
		Cluster:   clusterReference(s.c),
		ClusterID: etcd.HexID(m.ClusterID), MemberID: etcd.HexID(m.ID), Member: m.Name, Pod: m.Pod, Role: roleOf(m),
		EtcdVersion: m.Version, TakenAt: metav1.NewTime(s.began), Attempts: got.Attempts,
		TransferSeconds: seconds(got.Transfer), VerifySeconds: seconds(got.Verify),
	}
	return out
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
