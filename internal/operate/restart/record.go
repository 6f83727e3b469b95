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
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// Strategy is the way in which members are restarted. The journal has it so that a version refuses
// to continue a restart of a kind that it doesn't know.
type Strategy string

// The strategies.
const (
	// Rolling restarts one member at a time. etcd serves clients all the time.
	Rolling Strategy = "rolling"
	// Coordinated stops all members before it starts any. etcd answers no requests meanwhile.
	Coordinated Strategy = "coordinated"
)

// Record is a restart in its journal. Its names are part of the journal's format: another version
// reads them.
type Record struct {
	Strategy Strategy `json:"strategy"`
	// Only is the pod of the only member to restart, empty for all.
	Only string `json:"only,omitempty"`
	// Pods has the UIDs of the pods that there were when the restart began, by name.
	Pods map[string]types.UID `json:"pods"`
	// Config has digests of the ConfigMaps and Secrets that the pods read, by kind and name.
	Config map[string]string `json:"config,omitempty"`
	// Together is the part of a coordinated restart, nil for any other.
	Together *Together `json:"together,omitempty"`

	journal journal.Journal
}

// Together is how far a coordinated restart is, and what has to be the same again at its end.
type Together struct {
	Phase rules.Phase `json:"phase"`
	// Replicas are those from before.
	Replicas int `json:"replicas"`
	// Services are those whose client traffic is cut, none for a restart without a cut.
	Services []string `json:"services,omitempty"`
	// ClusterID, Members and Revision are what etcd answered: the cluster's ID, the IDs of the members by
	// pod, and the revision. Those that no member answered are not known, and 0.
	ClusterID uint64            `json:"clusterID,omitempty"`
	Members   map[string]uint64 `json:"members,omitempty"`
	Revision  int64             `json:"revision,omitempty"`
}

// Summary returns the restart as text: "one member at a time".
func (r *Record) Summary() string {
	switch {
	case r.Strategy == Coordinated:
		return "all members at once"
	case r.Only != "":
		return "of " + r.Only
	}
	return "one member at a time"
}

// ContinuedBy reports whether a command for the member of a pod, empty for all, and with a strategy, empty for none,
// continues the restart. A coordinated restart stops all members, so it is continued by its name only.
func (r *Record) ContinuedBy(only string, strategy Strategy) bool {
	return (only == "" || only == r.Only) && (strategy == r.Strategy || strategy == "" && r.Strategy != Coordinated)
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
	if t := r.Together; r.Strategy == Coordinated && t != nil && t.Replicas < 1 {
		return nil, fmt.Errorf("the journal of %s, ConfigMap %s, has %d replicas, and no restart begins with so few: delete it: kubectl delete configmap %s -n %s",
			o, journal.Name(o), t.Replicas, journal.Name(o), o.Namespace)
	}
	if r.Strategy != Rolling && (r.Strategy != Coordinated || r.Together == nil) {
		return nil, fmt.Errorf("the journal of %s, ConfigMap %s, is of a restart by strategy %q, which this version doesn't know: use the version of kubectl-etcd that began it to end it",
			o, journal.Name(o), r.Strategy)
	}
	return r, nil
}

// create writes the journal for the first time.
func (r *Record) create(ctx context.Context, kube client.Client, sts *appsv1.StatefulSet, dry bool) error {
	r.journal.Kind, r.journal.Object = journal.KindRestart, sts.UID
	if err := r.journal.Pack(r); err != nil {
		return err
	}
	return r.journal.Create(ctx, kube, sts, dry)
}

// enter records a phase, and what the members that start read. The record in memory changes only if the
// journal has it.
func (r *Record) enter(ctx context.Context, kube client.Client, phase rules.Phase, config map[string]string) error {
	next, together := *r, *r.Together
	together.Phase = phase
	next.Together, next.Config = &together, config
	if err := next.update(ctx, kube); err != nil {
		return err
	}
	*r = next
	return nil
}

// update writes the journal again.
func (r *Record) update(ctx context.Context, kube client.Client) error {
	return r.journal.UpdateWith(ctx, kube, r)
}
