// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"cmp"
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/maintenance"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	databases "github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// state is the cluster as it was found once.
type state struct {
	rules.Facts

	sets      []*appsv1.StatefulSet
	pods      []*corev1.Pod
	survey    etcd.Survey
	databases []databases.Database
	// peers has the members' peer URLs by pod, if a coordinated restart has compared them.
	peers map[string]peers
	// moving are the pods whose next pods listen for peers on others, if the list could not be read.
	moving []string
	// intact is how many members keep their data, if that was checked.
	intact int
}

// observe reads everything. Without a record, each pod counts as there from the beginning.
func (j *Job) observe(ctx context.Context, r *Record) (*state, error) {
	s := &state{}
	var err error
	if s.sets, err = j.readSets(ctx); err != nil {
		return nil, err
	}
	if s.pods, err = j.Reader.MemberPods(ctx, j.Owner); err != nil {
		return nil, err
	}
	s.pods = j.Reader.WithNodes(ctx, s.pods, j.Clock.Now())
	// A coordinated restart goes on without answers: all members may be down.
	if s.survey, err = j.survey(ctx, s.pods); err != nil && (r.Strategy != Coordinated || ctx.Err() != nil || etcd.Denied(err)) {
		return nil, err
	}
	if s.Cluster, err = j.Reader.Cluster(ctx, j.Owner); err != nil {
		return nil, err
	}
	if s.Cluster.Operation != "" && waitsForDeletion(s.sets) {
		s.Cluster.Operation = "" // a restart is how such a rollout goes on
	}
	s.databases = maintenance.Databases(s.survey)
	s.Only = r.Only
	j.addMembers(s, r.Pods)
	return s, nil
}

// readSets reads the StatefulSets of the members.
func (j *Job) readSets(ctx context.Context) ([]*appsv1.StatefulSet, error) {
	var sets []*appsv1.StatefulSet
	for _, name := range setNames(j.Owner) {
		o := j.Owner
		o.StatefulSet = name
		sts, err := operate.ReadStatefulSet(ctx, j.Kube, o)
		if err != nil {
			return nil, err
		}
		sets = append(sets, sts)
	}
	return sets, nil
}

// setNames returns the StatefulSets of a cluster, one or several.
func setNames(o owner.Owner) []string {
	if !o.Spans() {
		return []string{o.StatefulSet}
	}
	var names []string
	for _, w := range o.Workloads {
		names = append(names, w.Name)
	}
	return names
}

// waitsForDeletion reports whether the StatefulSets have all pods, except for a rollout that goes on
// only when pods are deleted (OnDelete).
func waitsForDeletion(sets []*appsv1.StatefulSet) bool {
	for _, sts := range sets {
		if sts.Spec.UpdateStrategy.Type != appsv1.OnDeleteStatefulSetStrategyType || !hasAllPods(sts) {
			return false
		}
	}
	return true
}

// hasAllPods reports whether a StatefulSet has as many pods as it is to have.
func hasAllPods(sts *appsv1.StatefulSet) bool {
	return sts.Status.ObservedGeneration >= sts.Generation && sts.Status.Replicas == ptr.Deref(sts.Spec.Replicas, 1)
}

// addMembers joins pods and etcd's members.
func (j *Job) addMembers(s *state, recorded map[string]types.UID) {
	names := map[string]*corev1.Pod{}
	for name := range recorded {
		names[name] = nil
	}
	for _, p := range s.pods {
		names[p.Name] = p
	}
	for name, pod := range names {
		s.Members = append(s.Members, s.member(name, pod, recorded))
	}
	slices.SortFunc(s.Members, func(a, b rules.Member) int {
		return cmp.Or(cmp.Compare(j.Owner.Ordinal(a.Pod), j.Owner.Ordinal(b.Pod)), cmp.Compare(a.Pod, b.Pod))
	})
	for _, d := range s.databases {
		if _, known := names[d.Pod]; !known { // a member that runs in no pod
			s.Members = append(s.Members, rules.Member{Pod: d.Pod, Trouble: d.Trouble, Learner: d.Learner})
		}
	}
}

// member returns what is known of the member in a pod, which may be nil.
func (s *state) member(name string, pod *corev1.Pod, recorded map[string]types.UID) rules.Member {
	m := rules.Member{Pod: name, Exists: pod != nil, Recorded: recorded == nil, Trouble: "it has no pod"}
	uid, known := recorded[name]
	m.Recorded = m.Recorded || known
	if pod == nil {
		return m
	}
	if in := slices.IndexFunc(s.Cluster.Members, func(c policy.Member) bool { return c.Pod == name }); in >= 0 {
		m.NodeLost = s.Cluster.Members[in].NodeLost
	}
	m.New, m.Leaving, m.PodReady = recorded != nil && pod.UID != uid, pod.DeletionTimestamp != nil, podstate.Ready(pod)
	at := slices.IndexFunc(s.databases, func(d databases.Database) bool { return d.Pod == name })
	if at < 0 {
		m.Trouble = "it is not a member of etcd"
		return m
	}
	d := s.databases[at]
	m.Trouble, m.Learner, m.Leader = d.Trouble, d.Learner, d.Leader && d.Trouble == ""
	if problem := podstate.Of(pod); m.Trouble != "" && problem.State != "" {
		m.Trouble = "its pod is " + problem.String()
	}
	if leader, ok := s.survey.Leader(); ok && d.Trouble == "" && leader.RaftApplied > d.Applied {
		m.Behind = leader.RaftApplied - d.Applied
	}
	return m
}

// uid returns the UID of a pod.
func (s *state) uid(name string) types.UID {
	for _, p := range s.pods {
		if p.Name == name {
			return p.UID
		}
	}
	return ""
}
