// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package olddata

import (
	"context"
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Discard removes the old data that restores of a cluster keep. It removes only what the cluster's owner records,
// under the names that a restore gives, and volumes that carry the record of such a restore.
type Discard struct {
	// Clients act. Their Exec runs commands in helper pods.
	Clients step.Clients
	Reader  *observe.Reader
	// Plan has the owner and the flags. Judge fills in the rest.
	Plan restore.Plan
	// Image is that of the helper pods.
	Image string
	// Only are the records whose data is removed, nil for all.
	Only Records
	// Survey asks all members.
	Survey func(ctx context.Context) (etcd.Survey, error)
	// InMember runs a command in a container of a member's pod, and returns what it prints.
	InMember func(ctx context.Context, pod, container string, command []string) (string, error)
	// StillHeld returns an error when this process no longer holds the cluster's lock.
	StillHeld func() error
	// Logf reports each completed step.
	Logf func(format string, args ...any)

	found Found
}

// Records are the records of restores that keep old data.
type Records []annotation.KeptData

// Found is the old data that a Discard removes.
type Found struct {
	// Records are those of the owner.
	Records []annotation.KeptData
	Items   []Kept

	// shells are the pods whose own container can remove the data.
	shells map[string]bool
}

// Kept is one part of the old data.
type Kept struct {
	// Pod and Path are for data in the volume of a member, and Volume is the name of a PersistentVolume.
	Pod, Path, Volume string
	// Claim is the claim from which the volume was kept.
	Claim string
	// Record is that of the restore.
	Record annotation.KeptData
	// Size is the size in bytes, below 0 where it is not known.
	Size int64
	// Stays is why it is not removed, empty if it is.
	Stays string
}

// String names the data for people.
func (k Kept) String() string {
	where, size := k.Pod+": "+k.Path, "size not known, if it is there"
	if k.Volume != "" {
		size = "size not known"
		where = fmt.Sprintf("PersistentVolume %s, from claim %s", k.Volume, k.Claim)
	}
	if k.Size >= 0 {
		size = policy.Bytes(k.Size)
	}
	text := fmt.Sprintf("%s, since %s, %s", where, format.Time(k.Record.At), size)
	if !k.Record.Until.IsZero() {
		text += ", to be kept until " + format.Time(k.Record.Until)
	}
	return text
}

// Judge finds the old data, and returns the plan to remove it. It returns an error while a restore is unfinished or
// the cluster is not healthy.
func (d *Discard) Judge(ctx context.Context) (operate.Plan, error) {
	o := d.Plan.Owner
	d.found = Found{Records: d.records()}
	if len(d.found.Records) == 0 {
		return operate.Plan{Already: fmt.Sprintf("No old data of %s is recorded%s.", o, d.which())}, nil
	}
	if err := d.ready(ctx); err != nil {
		return operate.Plan{}, err
	}
	if err := d.find(ctx); err != nil {
		return operate.Plan{}, err
	}
	return d.plan(), nil
}

func (d *Discard) which() string {
	if d.Only != nil {
		return " that was to be removed"
	}
	return ""
}

// records returns the records of the owner that are selected.
func (d *Discard) records() []annotation.KeptData {
	return slices.DeleteFunc(restore.KeptOf(d.Plan.Owner), func(k annotation.KeptData) bool {
		return d.Only != nil && !slices.ContainsFunc(d.Only, func(o annotation.KeptData) bool { return o.Stamp() == k.Stamp() && o.Until.Equal(k.Until) })
	})
}

// ready returns an error unless the cluster runs well on its present data: the old data may be the last that there
// is.
func (d *Discard) ready(ctx context.Context) error {
	o := d.Plan.Owner
	if journal.CanExist(o) {
		j, err := journal.Read(ctx, d.Clients.Kube, o)
		if err != nil {
			return err
		}
		if j != nil && j.ScaleTo > 0 {
			return d.refuse("%s", membership.UnfinishedOther(o, j))
		}
		if j != nil {
			return d.refuse("kubectl etcd %s is unfinished, and may need the old data; continue or undo it first: %s", j.Kind, d.Plan.Flags.Plugin("status %s", d.Plan.Target()))
		}
	}
	if o.WithoutStatefulSet() || o.InParts() || o.Replicas == 0 {
		return d.refuse("it has no StatefulSet with members, so it is not known that it runs without the old data")
	}
	survey, err := d.Survey(ctx)
	if err == nil {
		err = restore.Agree(survey, int(o.Replicas), 0)
	}
	if err != nil {
		return d.refuse("it is not healthy, and the old data may be needed: %v; see %s", err, d.Plan.Flags.Plugin("diagnose %s", d.Plan.Target()))
	}
	for _, m := range survey.Members {
		if slices.Contains(m.Alarms, "CORRUPT") {
			return d.refuse("member %s reports that its data is corrupt, and the old data may be needed; see %s", m.Pod, d.Plan.Flags.Plugin("diagnose %s", d.Plan.Target()))
		}
	}
	return nil
}

func (d *Discard) refuse(format string, args ...any) error {
	return operate.RefuseTo("discard the old data of "+d.Plan.Owner.String(), format, args...)
}

// plan describes what is removed.
func (d *Discard) plan() operate.Plan {
	o := d.Plan.Owner
	p := operate.Plan{
		Title:   fmt.Sprintf("delete the old data that restores of %s keep", o),
		Subject: string(o.UID) + " " + annotation.FormatKeptData(d.found.Records),
		Typed:   o.Name,
		Facts:   []string{fmt.Sprintf("all %d members run as one cluster on their present data", o.Replicas)},
		Needs:   DiscardNeeds(o, d.found.Records),
	}
	for _, k := range d.found.Items {
		if k.Stays != "" {
			p.Warnings = append(p.Warnings, fmt.Sprintf("%s stays: %s.", k, k.Stays))
			continue
		}
		p.Steps = append(p.Steps, "delete "+k.String())
	}
	if len(d.removable()) > 0 {
		p.Steps = append(p.Steps, "remove the record of it from "+o.String())
	}
	if helped := d.helped(); len(helped) > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("A helper pod mounts the volume of %s beside the member, whose container has no shell. On a node with SELinux, that can change the labels of its files and stop the member: the command ends at the first member after which the cluster is not healthy.", policy.List(helped)))
	}
	p.Warnings = append(p.Warnings, "What is deleted can't be brought back.")
	return p
}

// helped returns the members whose data a helper pod removes.
func (d *Discard) helped() []string {
	var pods []string
	for _, k := range d.found.Items {
		if k.Pod != "" && !d.found.shells[k.Pod] && !slices.Contains(pods, k.Pod) {
			pods = append(pods, k.Pod)
		}
	}
	return pods
}

// DiscardNeeds returns the permissions to remove old data of a cluster.
func DiscardNeeds(o owner.Owner, records []annotation.KeptData) []operate.Need {
	need := operate.NeedIn(o.Namespace)
	object := o.Resource()
	needs := []operate.Need{need("get", object.Group, object.Resource, "", o.Name), need("patch", object.Group, object.Resource, "", o.Name)}
	if !o.Product().BackupRestore {
		needs = append(needs, need("get", "", "pods", "", ""), need("create", "", "pods", "", ""), need("delete", "", "pods", "", ""),
			need("get", "", "pods", "exec", ""), need("create", "", "pods", "exec", ""), need("get", "", "persistentvolumeclaims", "", ""))
	}
	if keepVolumes(records) {
		needs = append(needs, operate.Need{Verb: "list", Resource: "persistentvolumes"}, operate.Need{Verb: "get", Resource: "persistentvolumes"},
			operate.Need{Verb: "patch", Resource: "persistentvolumes"})
	}
	return needs
}

// keepVolumes reports whether a restore keeps volumes.
func keepVolumes(records []annotation.KeptData) bool {
	return slices.ContainsFunc(records, func(k annotation.KeptData) bool { return k.Volumes })
}
