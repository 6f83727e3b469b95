// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/rollouts"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// Leftover returns what to do after an operation was undone where a pod has no member. It is empty
// where all have one, and for unknown.
func (m *Members) Leftover(ctx context.Context) string {
	s, err := m.observe(ctx, nil, 0)
	if err != nil || len(s.podsWithoutMember()) == 0 {
		return ""
	}
	var cures []string
	for _, ordinal := range s.podsWithoutMember() {
		cures = append(cures, fmt.Sprintf("kubectl etcd member replace statefulset/%s %s -n %s", s.sts.Name, s.Ordinals[ordinal].Pod, s.sts.Namespace))
	}
	return fmt.Sprintf("%s. To give each pod a member: %s", s.countMismatch(), strings.Join(cures, " and "))
}

// HeldRollout returns what to do about a rollout that is held after an operation was undone, since nothing continues it
// without etcd-webhook. It is empty where none is held, and for unknown. flags are the user's for the command.
func (m *Members) HeldRollout(ctx context.Context, flags string) string {
	sts, err := operate.ReadStatefulSet(ctx, m.Kube, m.Owner)
	if err != nil {
		return ""
	}
	if _, held := rollouts.AuthorStrategy(sts); !held {
		return ""
	}
	return fmt.Sprintf("the rollout of StatefulSet %s is held by etcd-webhook, which continues it. If etcd-webhook is not installed any more, see how to release the rollout: kubectl etcd sweep -n %s%s",
		sts.Name, sts.Namespace, flags)
}
