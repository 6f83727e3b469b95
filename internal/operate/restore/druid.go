// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/backupstore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// unprotection is druid's annotation that lets other clients write the cluster's objects.
const unprotection = druidv1alpha1.DisableEtcdComponentProtectionAnnotation

// Druid is what only a plan for a druid cluster needs.
type Druid struct {
	// Store is nil for a cluster without a backup store, which can't be restored.
	Store *backupstore.Store
	// ConfigMap is the members' configuration, and Config its content for the
	// first member alone.
	ConfigMap, Config string
	// Claims are the names of the claims, Leases those of the members' leases.
	Claims, Leases []string
	// StorePod is a pod that mounts a store in a directory of the nodes, and StoreDir is
	// the directory of the snapshots in it. Both are empty for other stores.
	StorePod, StoreDir string
	// Stored is the highest revision in the store, by the leases of the sidecars, 0 for unknown.
	Stored int64
	// Cut means that client traffic is cut. Members join through its Service.
	Cut bool
}

// object returns the object that identifies the cluster and has its annotations: its Etcd, or its StatefulSet.
func (r Plan) object() (step.Kind, string) {
	if r.Owner.IsEtcd() {
		return step.Etcd, r.Owner.Name
	}
	return step.StatefulSet, r.Owner.StatefulSet
}

// bySidecars reports whether the sidecars of the members restore, from a store. Druid is then set. The
// sidecars know the members' URLs, so the plan need not.
func (r Plan) bySidecars() bool { return r.Owner.Product().BackupRestore }

// druid returns the steps for an Etcd. Its sidecars restore the last snapshot in the store
// into a first member with a new volume, and the others join it. The sidecars read no file,
// so the snapshot is copied into the store. They don't raise the revision, so it is raised
// before that. This also makes the snapshot the last one, which it becomes when no member runs.
func (r Plan) druid() []step.Step {
	d := r.Druid
	before, put := r.intoStore()
	steps := append([]step.Step{r.check()}, before...)
	steps = append(steps, r.suspend())
	if r.Answers {
		steps = append(steps, r.keepInStore())
	}
	steps = append(steps,
		step.Step{ID: stopped, Uses: []string{probed}, Title: "Stop all members", Acts: r.stopAll()},
		put,
		r.removeVolumes(),
		step.Step{
			Title: "Configure the first member as a cluster of one", Why: "druid writes the whole list again later.",
			Acts: []step.Action{step.Patch{Kind: step.ConfigMap, Name: d.ConfigMap, Body: map[string]any{"data": map[string]any{"etcd.conf.yaml": d.Config}}}},
		},
		step.Step{
			ID: started, Title: "Start the first member, which restores from the store", Why: "The log of its container backup-restore shows the source and the progress.",
			Acts: r.startFirst(15 * time.Minute),
		},
		r.resume())
	// Client traffic isn't cut here: a member joins through its Service.
	end := r.end()
	end[0].Uses, end[1].Title, end[1].Acts = nil, "Check the clients", nil
	return append(steps, end...)
}

// suspend stops druid from reverting what the steps change, unless it is suspended already.
func (r Plan) suspend() step.Step {
	s := step.Step{ID: suspended, Title: "Suspend etcd-druid"}
	var set []step.Annotation
	for _, key := range []string{traffic.SuspendAnnotation, unprotection} {
		if _, there := r.Owner.Annotations[key]; !there {
			set = append(set, step.Annotation{Key: key})
		}
	}
	if len(set) == 0 {
		s.Why = "It is suspended already."
		return s
	}
	s.Acts = []step.Action{r.annotate(true, set...)}
	return s
}

func (r Plan) annotate(overwrite bool, changes ...step.Annotation) step.Action {
	return step.Annotate{Kind: step.Etcd, Name: r.Owner.Name, Overwrite: overwrite, Changes: changes}
}

// resume has druid create the other members, and restores its annotations.
func (r Plan) resume() step.Step {
	s := step.Step{
		Title: "Resume etcd-druid, which starts the other members", Acts: []step.Action{
			r.annotate(true, step.Annotation{Key: traffic.SuspendAnnotation, Remove: true}, step.Annotation{Key: druidv1alpha1.DruidOperationAnnotation, Value: druidv1alpha1.DruidOperationReconcile}),
			r.awaitReady(15 * time.Minute),
			step.Wait{Kind: step.Etcd, Names: []string{r.Owner.Name}, For: step.Condition("AllMembersReady"), Timeout: 15 * time.Minute},
		},
	}
	var back []step.Annotation
	if _, there := r.Owner.Annotations[unprotection]; !there {
		back = append(back, step.Annotation{Key: unprotection, Remove: true})
	}
	if was, there := r.Owner.Annotations[traffic.SuspendAnnotation]; there {
		// druid first ends the reconciliation that it has begun, and then removes the
		// annotation. Its state need not be Succeeded by then.
		s.Acts = append(s.Acts, step.AwaitReconcile{Etcd: r.Owner.Name})
		back = append(back, step.Annotation{Key: traffic.SuspendAnnotation, Value: was})
	}
	if len(back) > 0 {
		s.Acts = append(s.Acts, r.annotate(false, back...))
	}
	return s
}

// removeVolumes deletes the data from which members would start instead of the store.
func (r Plan) removeVolumes() step.Step {
	s := step.Step{ID: removed, Final: true, Uses: []string{stopped}, Title: "Remove the members' volumes and leases", Why: "The volumes themselves stay, as PersistentVolumes that are Released, until you discard them."}
	claims := slices.DeleteFunc(slices.Clone(r.Druid.Claims), func(c string) bool { return slices.Contains(r.Gone, c) })
	if len(claims) > 0 {
		s.Acts = append(s.Acts, r.retainVolumes(claims)...)
	}
	if len(claims) > 0 {
		s.Acts = append(s.Acts, r.noMember(), step.Delete{Kind: step.Claim, Names: claims, IgnoreMissing: true})
	} else {
		s.Why = "The claims are gone already."
	}
	s.Acts = append(s.Acts, step.Delete{Kind: step.Lease, Names: r.Druid.Leases, IgnoreMissing: true})
	return s
}

func (r Plan) keepInStore() step.Step {
	s := r.keep()
	s.Why = "The snapshots in the store stay."
	return s
}
