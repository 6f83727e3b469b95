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
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// backupPoll is how often a backup's lease is looked at. It may be any Lease,
// so no informer watches it, and backups are hours apart.
const backupPoll = time.Minute

// backupLease derives BackupReady for a cluster that no operator keeps, from
// the lease and the maximum age that its owner's annotations name. Absent
// without them. Against ages of hours the skew of two clocks is nothing, so
// here renewTime itself is believed.
func (r *Reader) backupLease(ctx context.Context, w *workload, f *Facts) (policy.Condition, error) {
	said, age := w.owner.Annotations[v1alpha1.BackupLeaseAnnotation], w.owner.Annotations[v1alpha1.BackupMaxAgeAnnotation]
	if said == "" && age == "" {
		return policy.Condition{}, nil
	}
	limit, ok := maxAge(age)
	name := namedLease(w.owner)
	if name == "" || !ok {
		f.note(reasons.BackupLeaseIncomplete, "%s says %s: %q and %s: %q; both are needed, a Lease's name and a duration such as 25h, and until then nothing is known of backups",
			w.owner, v1alpha1.BackupLeaseAnnotation, said, v1alpha1.BackupMaxAgeAnnotation, age)
		return policy.Condition{}, nil
	}
	f.changeIn(backupPoll)
	live := r.Live
	if live == nil {
		live = r.Reader
	}
	var lease coordinationv1.Lease
	err := live.Get(ctx, client.ObjectKey{Namespace: w.owner.Namespace, Name: name}, &lease)
	switch {
	case apierrors.IsNotFound(err):
		return newCondition(policy.Unknown, reasons.BackupLeaseNotFound), nil
	case err != nil:
		return policy.Condition{}, err
	case lease.Spec.RenewTime == nil:
		return newCondition(policy.Unknown, reasons.BackupLeaseNeverRenewed), nil
	}
	rest := limit - f.At.Sub(lease.Spec.RenewTime.Time)
	if rest < 0 {
		return newCondition(policy.False, reasons.BackupTooOld), nil
	}
	f.changeIn(rest + time.Second)
	return newCondition(policy.True, reasons.BackupSucceeded), nil
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
