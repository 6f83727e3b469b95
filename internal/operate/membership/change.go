// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// Change is a change of members that takes several steps: what it is to end with, and
// what was found before its first step, so that any later run can resume or undo it.
type Change struct {
	membership.Record

	// Found is what the StatefulSet made its pods from, by the journal. What is restored comes from the mark of the
	// StatefulSet.
	Found found

	// journal keeps the change until its last step is done.
	journal journal.Journal
	// givenUp means that a change that is undone is not to be made later.
	givenUp bool
}

// Journal returns who began the change and when.
func (j *Change) Journal() *journal.Journal { return &j.journal }

// Verb returns the command that begins the operation, without the target.
func (j *Change) Verb() string {
	if j.Operation == membership.Replace {
		return "member replace"
	}
	return "scale"
}

// ReadChange reads the unfinished change of a cluster's members, nil for none.
func ReadChange(ctx context.Context, kube client.Reader, o owner.Owner) (*Change, error) {
	kept, err := journal.Read(ctx, kube, o)
	if err != nil {
		return nil, err
	}
	return changeOf(o, kept)
}

func changeOf(o owner.Owner, kept *journal.Journal) (*Change, error) {
	if kept == nil {
		return nil, nil
	}
	if !kept.OfMembers() {
		return nil, &operate.RefusedError{What: "change the members of " + o.String(), Why: []string{UnfinishedOther(o, kept)}}
	}
	j := &Change{journal: *kept}
	var p payload
	if err := json.Unmarshal(kept.Payload, &p); err != nil {
		return nil, fmt.Errorf("read the journal of %s, ConfigMap %s: %w", o, journal.Name(o), err)
	}
	// The first format of the journal had every variable of the container.
	p.Env = slices.DeleteFunc(p.Env, func(v corev1.EnvVar) bool { return !isEdited(v) })
	j.Record, j.Found = p.record(), p.found
	if kept.Kind != j.Verb() || !p.known() {
		return nil, fmt.Errorf("the journal of %s, ConfigMap %s, is of %q, operation %q, which this version doesn't know: use the version of kubectl-etcd that began it to end it",
			o, journal.Name(o), kept.Kind, p.Operation)
	}
	if err := p.checkNumbers(); err != nil {
		return nil, fmt.Errorf("read the journal of %s, ConfigMap %s: %w", o, journal.Name(o), err)
	}
	return j, nil
}

// begin writes the journal for the first time.
func (j *Change) begin(ctx context.Context, kube client.Client, sts *appsv1.StatefulSet, dry bool) error {
	if err := j.journal.Pack(payloadOf(j)); err != nil {
		return err
	}
	j.journal.Kind = j.Verb()
	return j.journal.Create(ctx, kube, sts, dry)
}

// undo records that the change is to be undone.
func (j *Change) undo(ctx context.Context, kube client.Client) error {
	if j.Undo {
		return nil
	}
	j.Undo = true
	err := j.journal.UpdateWith(ctx, kube, payloadOf(j))
	j.Undo = err == nil // so that a retry writes again
	return err
}

// end removes the journal after the last step, or reinstates that of the restore that the change has followed.
func (j *Change) end(ctx context.Context, kube client.Client) error {
	if j.Undo && !j.givenUp {
		return j.journal.Reinstate(ctx, kube)
	}
	return j.journal.Delete(ctx, kube)
}
