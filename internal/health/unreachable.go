// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// noneAnswers reports whether no member answers, for whatever reason.
func (f *Facts) noneAnswers() bool {
	return f.Survey.Err != nil || !slices.ContainsFunc(f.Survey.Value.Members, func(m etcd.Member) bool { return m.Err == nil || m.ID != 0 })
}

// onlyUnreachable reports whether no member answers and Kubernetes shows a quorum of them as ready: then it may be this
// machine that can't reach them.
func (f *Facts) onlyUnreachable() bool {
	members := f.Survey.Value.Members
	return len(members) > 0 && f.noneAnswers() && len(members)-len(f.unready()) >= f.voters().quorum()
}

// unready returns the members of the survey that Kubernetes doesn't show as ready.
func (f *Facts) unready() []etcd.Member {
	return slices.DeleteFunc(slices.Clone(f.Survey.Value.Members), func(m etcd.Member) bool { return f.readyInKubernetes(m.Pod) })
}

// unreachable returns the finding about members of which none answers, although Kubernetes shows enough of them as ready.
func (f *Facts) unreachable() Finding {
	down := f.unready()
	if len(down) == 0 {
		return notAsked(Finding{Level: Unknown, Message: "no member answers, although Kubernetes shows all of them as ready"})
	}
	return notAsked(Finding{Level: Unknown, Fix: f.describePods(down), Message: fmt.Sprintf("no member answers, although Kubernetes shows all of them but %s as ready", policy.List(pods(down)))})
}
