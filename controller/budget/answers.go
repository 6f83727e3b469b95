// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// MemberHealth has the last answers of members to the question whether they have a quorum.
type MemberHealth interface {
	Answer(pod *corev1.Pod) observe.Answer
}

// asking asks the members of those clusters whose policy allows it, also where they share a budget with another cluster.
type asking struct {
	MemberHealth

	reader *observe.Reader
}

// Asks reports whether members are asked, as observe.Health has it. A policy that can't be read allows nothing. While policies tie, budgets are held and only
// become stricter, so the members are asked if one of these policies allows it.
func (a asking) Asks(ctx context.Context, o owner.Owner) (bool, error) {
	match, err := topologypolicy.For(ctx, a.reader, o)
	if err != nil {
		return false, err
	}
	asks := func(p *v1alpha1.EtcdTopologyPolicy) bool { return p.Spec.Disruption.AskMembers }
	return match.Policy != nil && asks(match.Policy) || slices.ContainsFunc(match.Tied, asks), nil
}

// answering returns a reader for one reconciliation that counts the answers of members.
func (b *Reconciler) answering() *observe.Reader {
	reader := b.Reader.Remembering()
	if b.Health == nil {
		return reader
	}
	return reader.Asking(Asking(b.Health, b.Reader))
}

// readFacts returns the facts of a cluster with the answers of its members, and without them.
func readFacts(ctx context.Context, reader *observe.Reader, o owner.Owner) (with, without observe.Facts, err error) {
	with, err = reader.Facts(ctx, o)
	asked := slices.ContainsFunc(with.Notes, func(n policy.Note) bool { return n.Reason == reasons.MembersAsked })
	if err != nil || !asked {
		return with, with, err
	}
	without, err = reader.Asking(nil).Facts(ctx, o)
	return with, without, err
}

// Asking returns the answers of members for reconcilers of other rules, of those clusters whose policy allows to ask
// them. reader reads the policies.
func Asking(h MemberHealth, reader *observe.Reader) observe.Health { return asking{h, reader} }
