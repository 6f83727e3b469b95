// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// backupPoll is how often a backup's lease is looked at. It may be any Lease,
// so no informer watches it, and backups are hours apart.
const backupPoll = time.Minute

// backupTimeout bounds the read of that lease, which is a part of an admission review.
const backupTimeout = 500 * time.Millisecond

// backupLease derives BackupReady for a cluster that no operator keeps, from
// the lease and the maximum age that its owner's annotations name. Absent
// without them. Against ages of hours the skew of two clocks is nothing, so
// here renewTime itself is believed. A lease that can't be read makes it Unknown,
// and keeps no other fact from being known.
func (r *Reader) backupLease(ctx context.Context, w *workload, f *Facts) policy.Condition {
	said, age := w.owner.Annotations[v1alpha1.BackupLeaseAnnotation], w.owner.Annotations[v1alpha1.BackupMaxAgeAnnotation]
	if said == "" && age == "" {
		return policy.Condition{}
	}
	limit, ok := maxAge(age)
	name := namedLease(w.owner)
	if name == "" || !ok {
		f.note("BackupLeaseIncomplete", "%s says %s: %q and %s: %q; both are needed, a Lease's name and a duration such as 25h, and until then nothing is known of backups",
			w.owner, v1alpha1.BackupLeaseAnnotation, said, v1alpha1.BackupMaxAgeAnnotation, age)
		return policy.Condition{}
	}
	f.changeIn(backupPoll)
	live := r.Live
	if live == nil {
		live = r.Reader
	}
	ctx, cancel := context.WithTimeout(ctx, backupTimeout)
	defer cancel()
	var lease coordinationv1.Lease
	err := live.Get(ctx, client.ObjectKey{Namespace: w.owner.Namespace, Name: name}, &lease)
	switch {
	case apierrors.IsNotFound(err):
		return policy.Condition{Status: policy.Unknown, Reason: "BackupLeaseNotFound"}
	case err != nil:
		f.note("BackupLeaseUnreadable", "it is not known whether backups of %s succeed: read Lease %s: %v", w.owner, name, err)
		return policy.Condition{Status: policy.Unknown, Reason: "BackupLeaseUnreadable"}
	case lease.Spec.RenewTime == nil:
		return policy.Condition{Status: policy.Unknown, Reason: "BackupLeaseNeverRenewed"}
	}
	rest := limit - f.At.Sub(lease.Spec.RenewTime.Time)
	if rest < 0 {
		return policy.Condition{Status: policy.False, Reason: "BackupTooOld"}
	}
	f.changeIn(rest + time.Second)
	return policy.Condition{Status: policy.True, Reason: "BackupSucceeded"}
}

// namedLease is the lease that an owner's annotation names, empty for none or for what
// can't be a name, such as NAMESPACE/NAME.
func namedLease(o Owner) string {
	name := o.Annotations[v1alpha1.BackupLeaseAnnotation]
	if len(validation.IsDNS1123Subdomain(name)) > 0 {
		return ""
	}
	return name
}

func maxAge(age string) (time.Duration, bool) {
	limit, err := time.ParseDuration(age)
	return limit, err == nil && limit > 0
}
