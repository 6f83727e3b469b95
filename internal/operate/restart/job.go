// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/tunnel"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Job restarts members of one cluster. It is for one goroutine. Close it.
type Job struct {
	Kube   client.Client
	Reader *observe.Reader
	Owner  owner.Owner
	// Tunnel and Credentials are for connections to members.
	Tunnel      *tunnel.Dialer
	Credentials access.Credentials
	Clock       clock.Clock
	// StillHeld returns an error when this process no longer holds the cluster's lock.
	StillHeld func() error
	// Traffic cuts client traffic and restores it, and Lock is the cluster's lock. Only a coordinated
	// restart uses them.
	Traffic *traffic.Cluster
	Lock    *lock.Lock
	// WithoutCut is true if a coordinated restart leaves client traffic as it is.
	WithoutCut bool
	// PlanOnly is true if nothing is written, not even as a dry run.
	PlanOnly bool
	// Abort is true if Run only ends the restart.
	Abort bool
	// Logf logs each step that was done, and with "… " what is awaited.
	Logf func(format string, args ...any)

	members *etcd.Cluster
	// connected are the pods that members has connections to.
	connected string
	waiter    operate.Waiter
	// wrote are the replicas that this process has set.
	wrote map[int]bool
	// notes are what users should know at the end.
	notes []policy.Note
}

// pollInterval is the time between two observations while something is awaited.
const pollInterval = time.Second

// Close ends the connections to the members.
func (j *Job) Close() error {
	if j.members == nil {
		return nil
	}
	return j.members.Close()
}

// survey surveys the members of the pods that there are now. A pod that was created again gets a
// new connection.
func (j *Job) survey(ctx context.Context, pods []*corev1.Pod) (etcd.Survey, error) {
	var key strings.Builder
	for _, p := range pods {
		fmt.Fprintln(&key, p.Name, p.UID, p.Status.PodIP)
	}
	if j.members == nil || j.connected != key.String() {
		endpoints, err := access.Endpoints(ctx, j.Reader, j.Owner, j.Credentials)
		if err != nil {
			return etcd.Survey{}, err
		}
		_ = j.Close() // to pods that are gone
		j.members, j.connected = &etcd.Cluster{Tunnel: j.Tunnel, Endpoints: endpoints}, key.String()
	}
	return j.members.Survey(ctx)
}

// permanent reports whether a retry won't help.
func permanent(err error) bool {
	return operate.Permanent(err) || etcd.Denied(err) || errors.As(err, new(*etcd.SplitBrainError))
}
