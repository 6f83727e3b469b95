// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	databases "github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// Members is the cluster as it was found once, for an operation that restarts single members itself. Such an
// operation has no journal of a restart.
type Members struct{ state *state }

// Observe reads the cluster, also if no member answers. A member is New if its pod is another one than in
// since. With nil, none is.
func (j *Job) Observe(ctx context.Context, since map[string]types.UID) (*Members, error) {
	s, err := j.observe(ctx, &Record{Strategy: Coordinated, Pods: since})
	if err != nil {
		return nil, err
	}
	return &Members{s}, nil
}

// Facts returns the facts for the rule.
func (m *Members) Facts() rules.Facts { return m.state.Facts }

// Pods returns the members' pods.
func (m *Members) Pods() []*corev1.Pod { return m.state.pods }

// Sets returns the StatefulSets of the members.
func (m *Members) Sets() []*appsv1.StatefulSet { return m.state.sets }

// Databases returns the members' databases.
func (m *Members) Databases() []databases.Database { return m.state.databases }

// UIDs returns the UIDs of the pods by name.
func (m *Members) UIDs() map[string]types.UID {
	uids := map[string]types.UID{}
	for _, p := range m.state.pods {
		uids[p.Name] = p.UID
	}
	return uids
}

// Describe adds what a plan has about the members and their next pods.
func (j *Job) Describe(m *Members, f *operate.Findings) {
	j.describe(m.state, &Record{Strategy: Rolling, Pods: m.UIDs()}, f)
}

// MoveLeaderFrom transfers leadership away from a member.
func (j *Job) MoveLeaderFrom(ctx context.Context, m *Members, pod string) error {
	return j.moveLeader(ctx, m.state, pod)
}

// RestartMember evicts the pod of a member, after the checks of a restart: its data and configuration must be
// there for the next pod.
func (j *Job) RestartMember(ctx context.Context, m *Members, pod string) error {
	return j.restart(ctx, m.state, &Record{Strategy: Rolling, Pods: m.UIDs()}, pod)
}
