// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// unprotection is druid's annotation by which others may write the cluster's objects.
const unprotection = druidv1alpha1.DisableEtcdComponentProtectionAnnotation

// Druid is what a plan for a druid cluster needs beside the rest.
type Druid struct {
	// Store is nil for a cluster without one, which can't be restored.
	Store *observe.BackupStore
	// ConfigMap is the members' configuration, and Config its content for the
	// first member alone.
	ConfigMap, Config string
	// Claims are the names of the claims, Leases those of the members' leases.
	Claims, Leases []string
	// StorePod is a pod that mounts a store that is a directory of the nodes, and
	// StoreDir where in it snapshots are; empty for other stores.
	StorePod, StoreDir string
	// Cut says that client traffic is cut, through whose Service members join.
	Cut bool
}

// druid is the plan for an Etcd: its sidecars restore by themselves what is the
// last in the store, into a first member whose volume is new, and the others join
// it. They read no file, so the snapshot is put into the store. They raise no
// revision either, so it is raised before: it makes the snapshot the last one, too.
func (r Plan) druid() []step.Step {
	d := r.Druid
	steps := []step.Step{r.check()}
	if r.Answers {
		steps = append(steps, r.keepInStore())
	}
	steps = append(steps, r.intoStore()...)
	steps = append(steps,
		r.handsOff(),
		step.Step{Title: "Stop all members", Acts: r.stopAll()},
		r.removeVolumes(),
		step.Step{
			Title: "Configure the first member as a cluster of one", Why: "druid writes the whole list back later.",
			Acts: []step.Action{step.Patch{Kind: step.ConfigMap, Name: d.ConfigMap, Body: map[string]any{"data": map[string]any{"etcd.conf.yaml": d.Config}}}},
		},
		step.Step{
			Title: "Start the first member, which restores from the store", Why: "The log of its container backup-restore says from what and how far.",
			Acts: r.startFirst(15 * time.Minute),
		},
		r.handsOn())
	// Nothing cuts clients here: a member joins through their Service.
	end := r.end()
	end[1].Title, end[1].Acts = "Think of the clients", nil
	return append(steps, end...)
}

// handsOff has druid leave alone what the steps change, as far as it isn't told so already.
func (r Plan) handsOff() step.Step {
	s := step.Step{Title: "Have druid keep its hands off"}
	var set []step.Annotation
	for _, key := range []string{traffic.SuspendAnnotation, unprotection} {
		if _, there := r.Owner.Annotations[key]; !there {
			set = append(set, step.Annotation{Key: key})
		}
	}
	if len(set) == 0 {
		s.Why = "It does so already."
		return s
	}
	s.Acts = []step.Action{r.annotate(true, set...)}
	return s
}

func (r Plan) annotate(overwrite bool, changes ...step.Annotation) step.Action {
	return step.Annotate{Kind: step.Etcd, Name: r.Owner.Name, Overwrite: overwrite, Changes: changes}
}

// handsOn has druid make the other members, and leaves its annotations as they were found.
func (r Plan) handsOn() step.Step {
	s := step.Step{
		Title: "Have druid make the others", Acts: []step.Action{
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
		// druid ends what it has begun first, and takes the annotation away at its end. Its
		// state need not be Succeeded by then: see druidBusy.
		s.Acts = append(s.Acts, step.AwaitReconcile{Etcd: r.Owner.Name})
		back = append(back, step.Annotation{Key: traffic.SuspendAnnotation, Value: was})
	}
	if len(back) > 0 {
		s.Acts = append(s.Acts, r.annotate(false, back...))
	}
	return s
}

// removeVolumes takes away what members would start from instead of the store.
func (r Plan) removeVolumes() step.Step {
	s := step.Step{Title: "Remove the members' volumes and leases", Why: "The volumes themselves stay, as PersistentVolumes that are Released, until you delete them."}
	claims := slices.DeleteFunc(slices.Clone(r.Druid.Claims), func(c string) bool { return slices.Contains(r.Gone, c) })
	bound := slices.DeleteFunc(slices.Clone(claims), func(c string) bool { return slices.Contains(r.Unbound, c) })
	if len(bound) > 0 {
		s.Acts = append(s.Acts, step.RetainVolumes{Claims: bound})
	}
	if len(claims) > 0 {
		s.Acts = append(s.Acts, step.Delete{Kind: step.Claim, Names: claims})
	} else {
		s.Why = "The volumes are gone already."
	}
	s.Acts = append(s.Acts, step.Delete{Kind: step.Lease, Names: r.Druid.Leases, IgnoreMissing: true})
	return s
}

func (r Plan) keepInStore() step.Step {
	s := r.keep()
	s.Why = "The store is kept as it is."
	s.Acts = append(s.Acts, verb("snapshot", "list", r.target()))
	return s
}
