// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Silent is a member whose container runs, and that did not answer. Barred means that the access to it was
// refused, so that it need not be asked again.
type Silent struct {
	Pod, Why string
	Barred   bool
}

// FindSilent finds the members that run and did not answer in a survey. unasked is why there was none.
func (r *Plan) FindSilent(ctx context.Context, reader *observe.Reader, s etcd.Survey, unasked error) error {
	pods, err := reader.MemberPods(ctx, r.Owner)
	if err != nil {
		return err
	}
	r.Silent = nil
	for _, pod := range pods {
		why := unasked
		if i := slices.IndexFunc(s.Members, func(m etcd.Member) bool { return m.Pod == pod.Name }); i >= 0 {
			why = s.Members[i].Err
		}
		if why != nil && etcdRuns(pod) {
			r.Silent = append(r.Silent, Silent{pod.Name, etcd.Reason(why), etcd.Barred(why)})
		}
	}
	return nil
}

// etcdRuns reports whether etcd's container of a pod runs, or any of its containers if it is not known which one is etcd's.
func etcdRuns(pod *corev1.Pod) bool {
	c := etcdconf.MemberOf(pod).Container
	return slices.ContainsFunc(containers.Statuses(pod), func(s corev1.ContainerStatus) bool {
		return s.State.Running != nil && (c == nil || s.Name == c.Name)
	})
}

// Unsure reports whether another answer may come the next time that matters: the members that answer don't follow a
// leader, so another one may have more than they have, or they elect one at this moment.
func (r *Plan) Unsure() bool {
	electing := 2*len(r.Answered) > len(r.running())
	return !r.Led && !r.Split && (electing || slices.ContainsFunc(r.Silent, func(s Silent) bool { return !s.Barred }))
}

// silent returns the refusal of a restore that could not save the data of running members, and does not know which
// revision clients have seen.
func (r Plan) silent() error {
	if r.Answers || r.Saved || r.Split || r.AllowUnsaved || len(r.Silent) == 0 {
		return nil
	}
	return r.refuse("%s, and no member that could provide its data answers (%s): the present data can't be saved, and it is not known which revision clients have seen; find out why with %s, then run the same command again. If none of them can ever answer, add --allow-unsaved: only the old volumes have the present data then",
		policy.Names(r.silentPods(), "runs", "run"), r.whySilent(), r.plugin("diagnose %s", r.Target()))
}

func (r Plan) silentPods() []string {
	var pods []string
	for _, s := range r.Silent {
		pods = append(pods, s.Pod)
	}
	return pods
}

func (r Plan) whySilent() string {
	var why []string
	for _, s := range r.Silent {
		why = append(why, s.Pod+": "+s.Why)
	}
	return strings.Join(why, "; ")
}

// unsaved returns why the present data is not saved before the restore, empty if it is.
func (r Plan) unsaved() string {
	switch {
	case r.Answers || r.Saved:
		return ""
	case r.Split:
		return fmt.Sprintf("the members belong to several clusters, each with its own data, which %s saves for one member", r.plugin("snapshot save %s FILE --member POD", r.Target()))
	case len(r.Silent) > 0:
		return policy.Names(r.silentPods(), "runs and does not answer", "run and do not answer") + " (" + r.whySilent() + ")"
	case r.Newest > 0:
		return "no member that answers can provide it: each is a learner or reports corrupt data"
	}
	return "no member answers"
}

// warnOfUnsaved warns of present data that only the old volumes have.
func (r Plan) warnOfUnsaved(warn func(format string, args ...any)) {
	if why := r.unsaved(); why != "" {
		warn("the present data is not saved, because %s. Only the old volumes can have it", why)
	}
	if r.Answers && !r.Led && len(r.Silent) > 0 {
		warn("%s (%s), and no leader is known: what they have after revision %d is not saved, and clients may have seen a higher revision",
			policy.Names(r.silentPods(), "runs and does not answer", "run and do not answer"), r.whySilent(), r.Newest)
	}
}
