// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/change"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/backup"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// runSave saves a snapshot of a member to a file or to stdout.
func runSave(cmd *cobra.Command, a *app.App, target, file string, o saveOptions) error {
	ctx, cancel := app.Within(cmd.Context(), o.change.Timeout, "save a snapshot of "+target)
	defer cancel()
	if file == "-" {
		if err := checkStdout(a, cmd); err != nil {
			return err
		}
	}
	location, err := o.store.object(file)
	if err != nil {
		return err
	}
	c, err := a.Cluster(ctx, target)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := checkNotDefragmenting(ctx, a, c); err != nil {
		return err
	}
	order, err := backup.ChooseMembers(ctx, c.Owner, c.Members, o.member, a.Warn)
	if app.Is[*backup.UnusableError](err) {
		return app.Unhealthy("%v", err)
	}
	if err != nil {
		return err
	}
	s := newSaver(a, c, order, o)
	if file == "-" {
		return s.toStdout(ctx)
	}
	if location != nil {
		return s.toURL(ctx, cmd, *location, o)
	}
	if file == "" {
		file = fmt.Sprintf("%s-%s-%s.db", c.Namespace, c.Name, s.started.UTC().Format("20060102T150405Z"))
	}
	return s.toFile(ctx, cmd, file, o.force)
}

// checkNotDefragmenting returns an error if this plugin defragments the cluster.
func checkNotDefragmenting(ctx context.Context, a *app.App, c *app.Cluster) error {
	return lock.CheckHeld(ctx, c.Kube, c.Owner, []string{"defrag"}, func(h lock.Holder, watch time.Duration) { change.Watching(a, h, watch) })
}

func checkStdout(a *app.App, cmd *cobra.Command) error {
	if ui.FormatOf(cmd) != "table" {
		return errors.New("-o can't be used with -: the snapshot itself goes to stdout")
	}
	if _, ok := ui.Terminal(a.Out); ok {
		return errors.New("stdout is a terminal, and a snapshot is binary data: use FILE or a pipe")
	}
	return nil
}

// saver saves one snapshot, from the first of its members that can provide it.
type saver struct {
	app      *app.App
	cluster  *app.Cluster
	members  []etcd.Member
	started  time.Time
	save     snapshot.Saver
	progress progressReporter
}

func newSaver(a *app.App, c *app.Cluster, order []etcd.Member, o saveOptions) *saver {
	s := &saver{app: a, cluster: c, members: order, started: a.Clock.Now(), progress: progressReporter{console: a.Console}}
	s.save = snapshot.Saver{
		Retries: o.retries, Idle: o.idle,
		Begin:    func(pod string, total int64) { s.progress.begin(s.member(pod), total) },
		Progress: s.progress.progress, Verifying: s.progress.verifying, Again: s.progress.retrying,
	}
	for _, m := range order {
		s.save.Sources = append(s.save.Sources, c.Members.SnapshotSource(m.Pod))
	}
	return s
}

func (s *saver) member(pod string) etcd.Member {
	i := slices.IndexFunc(s.members, func(m etcd.Member) bool { return m.Pod == pod })
	return s.members[i]
}

// toStdout writes the snapshot to stdout, and its size and hash to stderr.
func (s *saver) toStdout(ctx context.Context) error {
	got, err := s.save.ToWriter(ctx, s.app.Out)
	s.progress.end()
	if err != nil {
		return fmt.Errorf("the output is not a valid snapshot: %w", err)
	}
	s.app.Step("Sent %d bytes with the correct hash: SHA-256 %x of the first %d bytes", got.Size, got.SHA256, got.Size-32)
	return nil
}

func (s *saver) toFile(ctx context.Context, cmd *cobra.Command, file string, force bool) error {
	out, err := s.fill(ctx, file, file, force)
	if err != nil {
		return err
	}
	return s.print(cmd, out)
}

// fill saves the snapshot to a file, and its description to FILE.json. shown is the file's name in the
// output.
func (s *saver) fill(ctx context.Context, file, shown string, force bool) (*v1alpha1.Snapshot, error) {
	var out *v1alpha1.Snapshot
	_, err := s.save.ToFile(ctx, file, force, func(got snapshot.Saved) ([]byte, error) {
		out = s.describe(shown, got)
		origin := out.DeepCopy()
		origin.File = path.Base(filepath.ToSlash(file))
		origin.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Snapshot"))
		text, err := json.MarshalIndent(origin, "", "  ")
		return append(text, '\n'), err
	})
	s.progress.end()
	return out, err
}

// print prints the snapshot that was saved.
func (s *saver) print(cmd *cobra.Command, out *v1alpha1.Snapshot) error {
	s.app.Step("Saved and verified %s", out.File)
	return s.app.Print(cmd, out, func(w io.Writer, _ bool) error { return writeSnapshot(s.app.Console, w, out) })
}

func (s *saver) describe(file string, got snapshot.Saved) *v1alpha1.Snapshot {
	m := s.member(got.Pod)
	out := snapshotObject(file, snapshot.File{Size: got.Size, Hashed: true, SHA256: got.SHA256, Content: *got.Content})
	out.Origin = &v1alpha1.SnapshotOrigin{
		Cluster:   clusterReference(s.cluster),
		ClusterID: etcd.HexID(m.ClusterID), MemberID: etcd.HexID(m.ID), Member: m.Name, Pod: m.Pod, Role: roleOf(m),
		EtcdVersion: m.Version, TakenAt: metav1.NewTime(s.started), Attempts: got.Attempts,
		TransferSeconds: seconds(got.Transfer), VerifySeconds: seconds(got.Verify),
	}
	return out
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
