// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package progress

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// Record is a restore in its journal. It has what the cluster doesn't show any more when steps have
// been done. Paths, pods and volumes are not in it: every user who may write ConfigMaps may change a
// journal, so they are always read from the StatefulSet.
type Record struct {
	// SHA256 is that of the snapshot, in hexadecimal. A command that continues must have the same one.
	SHA256 string `json:"sha256"`
	// File is the path or URL of the snapshot as the user gave it, "-" for stdin, empty for unknown. Messages contain it,
	// and no command opens it: what a user gives is compared with SHA256. A URL has no credentials and no parameters, and
	// Parameters is true if it had any.
	File       string `json:"file,omitempty"`
	Parameters bool   `json:"parameters,omitempty"`
	// At is when the plan was made. Names of files contain it.
	At time.Time `json:"at"`
	// Bump is by how much the revision is raised. Size is the number of restored members. How many there were before is in
	// the mark of the StatefulSet.
	Bump int64 `json:"bump"`
	// KeepFor is how long the old data is kept, 0 for no limit.
	KeepFor time.Duration `json:"keepFor,omitempty"`
	Size    int32         `json:"size"`
	// OldSize is the number of members of the old cluster, if it had more and their claims are there, and 0 otherwise.
	OldSize int32 `json:"oldSize,omitempty"`
	// Hashed, Revision and Written are those of the snapshot.
	Hashed   bool  `json:"hashed,omitempty"`
	Revision int64 `json:"revision"`
	Written  int64 `json:"written"`
	// The others are facts of the plan of the same name.
	Etcd    string `json:"etcd,omitempty"`
	Newest  int64  `json:"newest,omitempty"`
	Loss    string `json:"loss,omitempty"`
	Answers bool   `json:"answers,omitempty"`
	Led     bool   `json:"led,omitempty"`
	Clients bool   `json:"clients,omitempty"`
	Uncut   string `json:"uncut,omitempty"`
	// Before is the cut of another user, as it was.
	Before  traffic.Before `json:"before,omitzero"`
	Gone    []string       `json:"gone,omitempty"`
	Ending  []string       `json:"ending,omitempty"`
	Unbound []string       `json:"unbound,omitempty"`
	Lost    []string       `json:"lost,omitempty"`
	// Survivor is the pod of the member whose data is restored, empty for another snapshot.
	Survivor string `json:"survivor,omitempty"`
	// Read are the pods of the members that don't answer and whose data was read from their volumes.
	Read []string `json:"read,omitempty"`
	// Backup is the highest revision of the backups, if the survivor lacks it.
	Backup int64 `json:"backup,omitempty"`
	// Annotations are those of etcd-druid that the steps change, as they were.
	Annotations map[string]string `json:"annotations,omitempty"`
	// Done is the number of steps that have been done. FirstStop is the number of those before the first that stops
	// members, 0 in a journal of an earlier version.
	Done      int `json:"done"`
	FirstStop int `json:"firstStop,omitempty"`
	// FirstTouch is the number of steps before the first that changes where members find their data.
	FirstTouch int `json:"firstTouch,omitempty"`
	// Order has the IDs of the steps for an Etcd, in the order of the version that began. It is empty in a journal of an
	// earlier version.
	Order []string `json:"order,omitempty"`
	// Undo means that the restore is being undone.
	Undo bool `json:"undo,omitempty"`
	// Starter is the client that had started members when the undoing began, which stops them.
	Starter string `json:"starter,omitempty"`
	// Undone means that all steps of the undoing have been done.
	Undone bool `json:"undone,omitempty"`
	// Final means that the next step has begun or is about to, and that nothing undoes the restore then.
	Final bool `json:"final,omitempty"`
	// OneByOne means that the first member is restored alone, for a reason that the StatefulSet alone doesn't show.
	OneByOne bool `json:"oneByOne,omitempty"`

	journal journal.Journal
	// rewound means that the record must be written before the next step.
	rewound bool
}

// Rewind has the steps from an index on be done again, if they have been.
func (rec *Record) Rewind(to int) { rec.Done, rec.rewound = min(rec.Done, max(to, 0)), true }

// Journal returns the journal of the restore.
func (rec *Record) Journal() *journal.Journal { return &rec.journal }

// Read returns the unfinished restore of a cluster, nil for none.
func Read(ctx context.Context, kube client.Reader, o owner.Owner) (*Record, error) {
	kept, err := journal.Read(ctx, kube, o)
	if err != nil || kept == nil || kept.Kind != journal.KindRestore {
		return nil, err
	}
	rec := &Record{journal: *kept}
	if err := json.Unmarshal(kept.Payload, rec); err != nil {
		return nil, fmt.Errorf("read the journal of %s, ConfigMap %s: %w", o, journal.Name(o), err)
	}
	if rec.Size < 1 || rec.Size > maxSize || rec.OldSize < 0 || rec.OldSize > maxSize || rec.Done < 0 || rec.Bump < 0 || rec.KeepFor < 0 || rec.At.IsZero() {
		return nil, fmt.Errorf("the journal of %s, ConfigMap %s, has numbers that no restore has (size %d, done %d): delete it: kubectl delete configmap %s -n %s",
			o, journal.Name(o), rec.Size, rec.Done, journal.Name(o), o.Namespace)
	}
	return rec, nil
}

// maxSize is more members than any cluster has that a restore plans for.
const maxSize = 100

// Same returns an error if a snapshot is another one than that of the restore.
func (rec *Record) Same(file string, s snapshot.File) error {
	if have := fmt.Sprintf("%x", s.SHA256); have != rec.SHA256 {
		return fmt.Errorf("%s is not the snapshot of the unfinished restore: its SHA-256 is %s, and the snapshot of the restore has %s%s", file, have, rec.SHA256, rec.From())
	}
	return nil
}

func (rec *Record) create(ctx context.Context, kube client.Client, sts *appsv1.StatefulSet, dry bool) error {
	rec.journal.Kind, rec.journal.Object, rec.journal.Began = journal.KindRestore, sts.UID, rec.At
	if err := rec.journal.Pack(rec); err != nil {
		return err
	}
	return rec.journal.Create(ctx, kube, sts, dry)
}

func (rec *Record) update(ctx context.Context, kube client.Client) error {
	return rec.journal.UpdateWith(ctx, kube, rec)
}

// OfPresent returns the StatefulSet of a restore. It refuses a restore that began on another StatefulSet than the one that there is now: neither its steps nor
// their undoing are about the present one.
func (rec *Record) OfPresent(ctx context.Context, kube client.Client, o owner.Owner) (*appsv1.StatefulSet, error) {
	sts, err := operate.ReadStatefulSet(ctx, kube, o)
	if err != nil {
		return nil, err
	}
	if err := rec.owns(sts); err != nil {
		return nil, operate.Refuse("%s", err)
	}
	return sts, nil
}

// owns returns an error if the journal is of another StatefulSet than the one that there is now.
func (rec *Record) owns(sts *appsv1.StatefulSet) error {
	if rec.journal.Object == sts.UID {
		return nil
	}
	return operate.HaltForGood("%s", rec.journal.Replaced(sts))
}

// Begun returns the IDs of the steps that have been done, and of the one that may have been begun.
func (rec *Record) Begun(steps []step.Step) []string {
	var ids []string
	for i, s := range steps {
		if i <= rec.Done && s.ID != "" {
			ids = append(ids, s.ID)
		}
	}
	return ids
}
