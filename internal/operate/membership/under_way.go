// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// deadAfter is for how long a lock must not have been renewed for a look from
// another machine, whose clock may differ, to call its holder dead.
const deadAfter = time.Minute

// UnderWay is what somebody does to a cluster with this program now, or has begun
// and not ended. The zero UnderWay is nothing.
type UnderWay struct {
	// Change is a change of members that was begun, nil for none.
	Change *Change
	// Holder has the cluster's lock; its Identity is empty for no one.
	Holder lock.Holder
}

// ReadUnderWay looks for both. Where the journal can't be read the error says so,
// and the rest is what is known.
func ReadUnderWay(ctx context.Context, kube client.Reader, o observe.Owner) (UnderWay, error) {
	var u UnderWay
	var err error
	if u.Holder, err = lock.ReadHolder(ctx, kube, o); err != nil {
		return u, fmt.Errorf("read the lock of %s: %w", o, err)
	}
	if !journal.Kept(o) {
		return u, nil
	}
	u.Change, err = ReadChange(ctx, kube, o)
	return u, err
}

// Alive says whether somebody is at it, as far as a look at the clock tells.
func (u UnderWay) Alive(now time.Time) bool {
	return u.Holder.Identity != "" && now.Sub(u.Holder.Renewed) < deadAfter
}

// Summary say what was begun: "scale from 1 to 3 members", "replace main-1".
func (j *Change) Summary(o observe.Owner) string {
	if j.Operation == membership.Replace {
		return "replace the member of " + o.PodName(j.Ordinal)
	}
	return fmt.Sprintf("scale from %d to %s", j.Replicas, format.Members(j.Target))
}

// Resume is the command that goes on with what was begun, and Abort the one that
// takes it back, without the flags that name the namespace.
func (j *Change) Resume(o observe.Owner) string {
	if j.Undo {
		return j.Abort(o)
	}
	if j.Operation == membership.Replace {
		return fmt.Sprintf("kubectl etcd member replace %s %s", o.Target(), o.PodName(j.Ordinal))
	}
	return fmt.Sprintf("kubectl etcd scale %s --replicas %d", o.Target(), j.Target)
}

// Abort is the command that takes back what was begun.
func (j *Change) Abort(o observe.Owner) string {
	if j.Operation == membership.Replace {
		return fmt.Sprintf("kubectl etcd member replace %s %s --abort", o.Target(), o.PodName(j.Ordinal))
	}
	return fmt.Sprintf("kubectl etcd scale %s --abort", o.Target())
}

// Same says whether two are of one operation: the journal goes with its operation.
func (j *Change) Same(as *Change) bool {
	return as != nil && j.Journal.Same(&as.Journal)
}
