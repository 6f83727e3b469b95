// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package lock

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// Claim is a request for a lock.
type Claim struct {
	// Operation is the command that needs the lock, such as "scale". Holder is user, host and
	// process. Acquire needs both.
	Operation, Holder string
	// Cluster is the owner's name in messages. Acquire sets it.
	Cluster string
	// Reason is the text of --reason, or empty.
	Reason string
	// Waiting is called, at most once, when the holder of the lock may be dead, with how long
	// the lock is watched. It may be nil.
	Waiting func(h Holder, watch time.Duration)
	// Clock is the real one where it is nil.
	Clock clock.Clock
}

// Needs returns the permissions that Acquire, renewal and Release use.
func Needs(o owner.Owner) []operate.Need {
	lease := operate.Need{Group: coordinationv1.GroupName, Resource: "leases", Namespace: o.Namespace}
	create := lease
	create.Verb = "create"
	needs := []operate.Need{create}
	for _, verb := range []string{"get", "update", "delete"} {
		need := lease
		need.Verb, need.Name = verb, Name(o)
		needs = append(needs, need)
	}
	return needs
}

// NamePrefix begins the name of every lock.
const NamePrefix = "kubectl-etcd-"

// Name returns the name of a cluster's lease, in the cluster's own namespace.
func Name(o owner.Owner) string {
	name := NamePrefix + strings.ToLower(o.Kind) + "-" + o.Name
	if len(name) <= 253 {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return fmt.Sprintf("%s-%x", strings.TrimRight(name[:236], "-."), sum[:8])
}

func leaseKey(o owner.Owner) client.ObjectKey {
	return client.ObjectKey{Namespace: o.Namespace, Name: Name(o)}
}

// Acquire takes the lock of a cluster. Where another process holds it, Acquire watches its lease for
// as long as the lease lasts. If the lease is renewed, the error is a *HeldError. If not, its holder
// is dead, and Acquire takes the lock. It never compares the clocks of two machines.
func Acquire(ctx context.Context, kube client.Client, o owner.Owner, c Claim) (*Lock, error) {
	if c.Clock == nil {
		c.Clock = clock.RealClock{}
	}
	c.Cluster = o.String()
	a := acquirer{kube: kube, claim: c, lease: leaseKey(o)}
	var err error
	// Each attempt reads the lease again: another process may have been faster.
	for range 5 {
		var lease *coordinationv1.Lease
		var previous *Holder
		if lease, previous, err = a.try(ctx); err == nil {
			return a.hold(ctx, lease, previous), nil
		}
		if !apierrors.IsConflict(err) && !apierrors.IsAlreadyExists(err) && !apierrors.IsNotFound(err) {
			break
		}
	}
	return nil, err
}

// acquirer tries to write a claim into the lease of a cluster.
type acquirer struct {
	kube  client.Client
	claim Claim
	lease client.ObjectKey
	// sent is when the last write was, or a moment before.
	sent time.Time
}

// try returns one attempt. A conflict means that another process was faster.
func (a *acquirer) try(ctx context.Context) (*coordinationv1.Lease, *Holder, error) {
	var found coordinationv1.Lease
	err := a.kube.Get(ctx, a.lease, &found)
	if apierrors.IsNotFound(err) {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: a.lease.Namespace, Name: a.lease.Name}}
		a.fill(lease)
		return lease, nil, a.wrap(a.kube.Create(ctx, lease))
	}
	if err != nil {
		return nil, nil, a.wrap(err)
	}
	var previous *Holder
	if holder := holderOf(&found); holder.Identity != "" {
		if err := a.watch(ctx, &found); err != nil {
			return nil, nil, err
		}
		previous = &holder
	}
	lease := found.DeepCopy()
	a.fill(lease)
	// The update has the resource version that was watched, so that it fails after a renewal.
	return lease, previous, a.wrap(a.kube.Update(ctx, lease))
}

func (a *acquirer) fill(lease *coordinationv1.Lease) {
	a.sent = a.claim.Clock.Now()
	now := metav1.NewMicroTime(a.sent)
	lease.Spec = coordinationv1.LeaseSpec{
		HolderIdentity: &a.claim.Holder, AcquireTime: &now, RenewTime: &now,
		LeaseDurationSeconds: new(int32(LeaseDuration / time.Second)),
		LeaseTransitions:     new(ptr.Deref(lease.Spec.LeaseTransitions, -1) + 1),
	}
	metav1.SetMetaDataAnnotation(&lease.ObjectMeta, OperationAnnotation, a.claim.Operation)
	delete(lease.Annotations, reasonAnnotation)
	if a.claim.Reason != "" {
		metav1.SetMetaDataAnnotation(&lease.ObjectMeta, reasonAnnotation, a.claim.Reason)
	}
}

// watch returns nil once the lease has not been renewed for as long as it lasts,
// and leaves the lease as last read.
func (a *acquirer) watch(ctx context.Context, lease *coordinationv1.Lease) error {
	held := &HeldError{Cluster: a.claim.Cluster, Lease: a.lease.String(), Holder: holderOf(lease)}
	last := durationOf(lease)
	if a.claim.Waiting != nil {
		a.claim.Waiting(held.Holder, last)
		a.claim.Waiting = nil
	}
	first := lease.Spec
	for began := a.claim.Clock.Now(); a.claim.Clock.Since(began) <= last; {
		if err := operate.Pause(ctx, a.claim.Clock, time.Second); err != nil {
			return fmt.Errorf("watch whether %s is still held: %w", a.lease, err)
		}
		if err := a.kube.Get(ctx, a.lease, lease); err != nil {
			return a.wrap(err)
		}
		if ptr.Deref(lease.Spec.HolderIdentity, "") == "" {
			return nil
		}
		if !sameTime(first.RenewTime, lease.Spec.RenewTime) || !ptr.Equal(first.HolderIdentity, lease.Spec.HolderIdentity) {
			held.Holder = holderOf(lease)
			return held
		}
	}
	return nil
}

// durationOf returns how long a lease lasts without renewal, as its holder wrote it, within bounds.
func durationOf(lease *coordinationv1.Lease) time.Duration {
	seconds := cmp.Or(ptr.Deref(lease.Spec.LeaseDurationSeconds, 0), int32(LeaseDuration/time.Second))
	return min(max(time.Duration(seconds)*time.Second, LeaseDuration), 2*time.Minute)
}

func sameTime(a, b *metav1.MicroTime) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(b)
}

// wrap adds the cluster to an error. Acquire still recognises conflicts in it.
func (a *acquirer) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("lock %s: %w", a.claim.Cluster, err)
}
