// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package backup

import (
	"context"
	"encoding/json"
	"path"
	"path/filepath"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// Saver saves one snapshot of a cluster, from the first of some members that can provide it.
type Saver struct {
	Owner owner.Owner
	// Members are tried in their order. There must be at least one.
	Members []etcd.Member
	// Started is when the snapshot was requested.
	Started time.Time
	// Fetch has the members as its sources, and reports the progress.
	Fetch snapshot.Saver
	// End is called when nothing is fetched any more.
	End func()
}

// Member returns the member of a pod.
func (s *Saver) Member(pod string) etcd.Member {
	i := slices.IndexFunc(s.Members, func(m etcd.Member) bool { return m.Pod == pod })
	return s.Members[i]
}

// ToFile saves the snapshot to a file, and its description to FILE.json. shown is the file's name in the
// description that it returns.
func (s *Saver) ToFile(ctx context.Context, file, shown string, force bool) (out *v1alpha1.Snapshot, err error) {
	defer s.End()
	_, err = s.Fetch.ToFile(ctx, file, force, s.record(file, shown, &out))
	return out, err
}

// FromDatabase makes the snapshot from the database file of a member that has stopped, as ToFile does. There must be one
// member.
func (s *Saver) FromDatabase(ctx context.Context, database, file string) (out *v1alpha1.Snapshot, err error) {
	_, err = snapshot.FromDatabase(ctx, s.Members[0].Pod, database, file, s.record(file, file, &out))
	return out, err
}

// record returns what writes the description of a snapshot, and sets out to it.
func (s *Saver) record(file, shown string, out **v1alpha1.Snapshot) func(snapshot.Saved) ([]byte, error) {
	return func(got snapshot.Saved) ([]byte, error) {
		*out = s.describe(shown, got)
		origin := (*out).DeepCopy()
		origin.File = path.Base(filepath.ToSlash(file))
		origin.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("Snapshot"))
		text, err := json.MarshalIndent(origin, "", "  ")
		return append(text, '\n'), err
	}
}

func (s *Saver) describe(file string, got snapshot.Saved) *v1alpha1.Snapshot {
	m := s.Member(got.Pod)
	out := describe(file, snapshot.File{Size: got.Size, Hashed: true, SHA256: got.SHA256, Content: *got.Content})
	out.Origin = &v1alpha1.SnapshotOrigin{
		Cluster:   Reference(s.Owner),
		ClusterID: etcd.HexID(m.ClusterID), MemberID: etcd.HexID(m.ID), Member: m.Name, Pod: m.Pod, Role: m.Role(),
		EtcdVersion: m.Version, TakenAt: metav1.NewTime(s.Started), Attempts: got.Attempts,
		TransferSeconds: seconds(got.Transfer), VerifySeconds: seconds(got.Verify),
	}
	return out
}

// Reference returns the cluster of a snapshot for printing.
func Reference(o owner.Owner) v1alpha1.ClusterReference {
	return v1alpha1.ClusterReference{Kind: o.Kind, Namespace: o.Namespace, Name: o.Name, UID: string(o.UID)}
}

func seconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }
