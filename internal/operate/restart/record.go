// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
)

// Strategy is the way in which members are restarted. This version knows one. The journal has it
// so that a version refuses to continue a restart of a kind that it doesn't know.
type Strategy string

// Rolling restarts one member at a time. etcd serves clients all the time.
const Rolling Strategy = "rolling"

// Record is a restart in its journal. Its names are part of the journal's format: another version
// reads them.
type Record struct {
	Strategy Strategy `json:"strategy"`
	// Only is the pod of the only member to restart, empty for all.
	Only string `json:"only,omitempty"`
	// Pods has the UIDs of the pods that there were when the restart began, by name.
	Pods map[string]types.UID `json:"pods"`
	// Config has the versions of the ConfigMaps and Secrets that the pods read, by kind and name.
	Config map[string]string `json:"config,omitempty"`

	journal journal.Journal
}

// Summary returns the restart as text: "one member at a time".
func (r *Record) Summary() string {
	if r.Only != "" {
		return "of " + r.Only
	}
	return "one member at a time"
}

// Journal returns who began the restart and when.
func (r *Record) Journal() *journal.Journal { return &r.journal }

// Read returns the unfinished restart of a cluster, nil for none. It returns none for a journal of
// another operation.
func Read(ctx context.Context, kube client.Reader, o owner.Owner) (*Record, error) {
	kept, err := journal.Read(ctx, kube, o)
	if err != nil || kept == nil || kept.Kind != journal.KindRestart {
		return nil, err
	}
	r := &Record{journal: *kept}
	if err := json.Unmarshal(kept.Payload, r); err != nil {
		return nil, fmt.Errorf("read the journal of %s, ConfigMap %s: %w", o, journal.Name(o), err)
	}
	if r.Strategy != Rolling {
		return nil, fmt.Errorf("the journal of %s, ConfigMap %s, is of a restart by strategy %q, which this version doesn't know: use the version of kubectl-etcd that began it to end it",
			o, journal.Name(o), r.Strategy)
	}
	return r, nil
}

// create writes the journal for the first time.
func (r *Record) create(ctx context.Context, kube client.Client, sts *appsv1.StatefulSet, dry bool) error {
	r.journal.Kind, r.journal.Object = journal.KindRestart, sts.UID
	if err := r.pack(); err != nil {
		return err
	}
	return r.journal.Create(ctx, kube, sts, dry)
}

func (r *Record) pack() (err error) {
	r.journal.Payload, err = json.Marshal(r)
	return err
}
