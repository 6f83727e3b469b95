// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package growth makes the volumes of a cluster's members larger, one member at a time. It requests the size
// in the member's volume claim, waits until the volume has it, and restarts the member if its file system
// grows only in a new pod. policy/growth decides. It never writes a StatefulSet.
package growth

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restart"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/growth"
)

// Job grows the volumes of one cluster. It is for one goroutine. Close it.
type Job struct {
	*restart.Job

	// Size is what each volume is to have.
	Size resource.Quantity

	// claims are those of the last plan, by pod. They don't change while a pod is missing.
	claims map[string]location
	// since has the UIDs of the pods from when the command began to act.
	since map[string]types.UID
	// pending are the claims that wait for their file system.
	pending map[string]wait
	// grown and restarted are the pods whose claims this command changed, and those that it restarted.
	grown, restarted []string
	waiter           operate.Waiter
}

const (
	// pollInterval is the time between two observations.
	pollInterval = time.Second
	// onlineLimit is how long a node may take to grow a file system that is mounted, before the member is
	// restarted. Nodes do this within seconds if the driver can.
	onlineLimit = time.Minute
)

// state is the cluster as it was found once.
type state struct {
	rules.Facts

	members *restart.Members
	claims  map[string]*corev1.PersistentVolumeClaim
}

// wait is since when a file system waits to grow, and the pod that had it mounted then.
type wait struct {
	since time.Time
	pod   types.UID
}

// Title names the operation.
func (j *Job) Title() string {
	return fmt.Sprintf("grow the volumes of %s to %s, one member at a time", j.Owner, j.Size.String())
}

// Needs returns the permissions that it uses.
func (j *Job) Needs() []operate.Need {
	need := operate.NeedIn(j.Owner.Namespace)
	writes := []operate.Need{
		need("patch", "", "persistentvolumeclaims", "", ""),
		{Verb: "get", Group: "storage.k8s.io", Resource: "storageclasses"},
	}
	return append(writes, slices.DeleteFunc(j.Job.Needs(), func(n operate.Need) bool { return n.Resource == "configmaps" })...)
}

// checkOwner refuses clusters whose volumes another program makes.
func (j *Job) checkOwner(f *operate.Findings) {
	m := j.Owner.Membership()
	switch {
	case m.Manager == flavour.ByOperator:
		how := j.Owner.Product().VolumesHow
		if how == "" {
			how = "it is not known how " + m.ManagerName + " grows volumes: see its documentation"
		}
		f.Refuse("%s creates its volumes, and may undo another client's change or be blocked by it; %s", m.ManagerName, how)
	case j.Owner.WithoutStatefulSet():
		f.Refuse("its pods have no StatefulSet that creates them again")
	case len(j.Owner.PodsBeside) > 0:
		f.Refuse("no StatefulSet creates %s, so nothing may create such a pod again", j.Owner.PodsBeside[0])
	}
}

// observe reads the members and their claims.
func (j *Job) observe(ctx context.Context) (*state, error) {
	members, err := j.Observe(ctx, j.since)
	if err != nil {
		return nil, err
	}
	s := &state{members: members, claims: map[string]*corev1.PersistentVolumeClaim{}}
	s.Facts.Facts, s.Size = members.Facts(), j.Size.Value()
	if err := j.locate(ctx, members.Pods()); err != nil {
		return nil, err
	}
	uids := members.UIDs()
	for _, m := range s.Members {
		at, known := j.claims[m.Pod]
		if !known {
			continue
		}
		c, claim, err := j.readClaim(ctx, m.Pod, uids[m.Pod], at)
		if err != nil {
			return nil, err
		}
		s.Claims, s.claims[m.Pod] = append(s.Claims, c), claim
	}
	return s, nil
}
