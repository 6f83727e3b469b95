// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	policyv1alpha1 "github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/budget"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// Observation is all that was seen of one cluster at one moment. What the user may not
// see is as if it weren't there, and is named in unseen.
type Observation struct {
	Owner      observe.Owner
	At         time.Time
	Facts      observe.Facts
	Pods       []*corev1.Pod
	Conditions []observe.Condition
	Backup     v1alpha1.Backup
	Traffic    v1alpha1.Traffic
	// governed is the policy that applies; verdict and standing are by it, or by
	// the rule's defaults where none does.
	governed observe.Match
	verdict  spread.Result
	Standing spread.Status
	Settings budget.Settings
	Events   []corev1.Event
	underWay membership.UnderWay
	// Said is what the members Said; silence is why none was asked at all.
	Said    etcd.Survey
	Silence error
	Unseen  []v1alpha1.Unseen
}

// Observer looks at one cluster, again and again if need be.
type Observer struct {
	reader    *observe.Reader
	to        etcd.Access
	namespace string
	target    observe.Target
	clock     clock.PassiveClock

	// members are kept as long as the pods are the same ones, and for some time: what
	// proves them changes. ill says that one didn't answer last time.
	members *etcd.Cluster
	pods    []string
	since   time.Time
	ill     bool
}

// For how long the ways to the members are kept, where all answer and where not all do.
const (
	keptWell = 10 * time.Minute
	keptIll  = 30 * time.Second
)

// stale says that the ways to the members are to be found anew.
func (v *Observer) stale(pods []string) bool {
	kept := keptWell
	if v.ill {
		kept = keptIll
	}
	return !slices.Equal(pods, v.pods) || v.clock.Now().Sub(v.since) > kept
}

// NewObserver returns an Observer of the target in the namespace.
func NewObserver(reader *observe.Reader, to etcd.Access, namespace string, target observe.Target, clock clock.PassiveClock) *Observer {
	return &Observer{reader: reader, to: to, namespace: namespace, target: target, clock: clock}
}

// Close ends the connections to the members.
func (v *Observer) Close() {
	if v.members != nil {
		_ = v.members.Close() // nothing was written
	}
	v.members, v.pods = nil, nil
}

// Observe sees the cluster as it is now.
func (v *Observer) Observe(ctx context.Context) (Observation, error) {
	r, denials, err := v.reader.Preload(ctx, v.namespace, true)
	if err != nil {
		return Observation{}, err
	}
	s := Observation{Unseen: unseenOf(denials)}
	if s.Owner, err = r.Resolve(ctx, v.namespace, v.target); err != nil {
		return s, unresolved(err, denials)
	}
	asked := make(chan struct{})
	go func() {
		defer close(asked)
		s.Said, s.Silence = v.ask(ctx, r, s.Owner)
	}()
	err = s.observe(ctx, r)
	if err == nil {
		err = s.readEvents(ctx, v.reader)
	}
	if err == nil {
		s.readUnderWay(ctx, r)
	}
	<-asked
	if err := context.Cause(ctx); err != nil {
		return s, err
	}
	s.At = v.clock.Now()
	return s, err
}

// unresolved says of a cluster that isn't found that it may be one of those that
// can't be seen.
func unresolved(err error, denials []observe.Denial) error {
	missing, ok := errors.AsType[*observe.NotFoundError](err)
	if !ok {
		return err
	}
	what := "no etcd cluster"
	if missing.Target.Name != "" {
		what = missing.Target.String() + " is not"
	}
	errs := []error{fmt.Errorf("%s among what you may see in namespace %s", what, missing.Namespace)}
	for _, d := range denials {
		if RequiredKinds[d.Resource] {
			errs = append(errs, d.Err)
		}
	}
	if len(errs) == 1 {
		return err
	}
	return errors.Join(errs...)
}

// ask asks the members. The error is why nobody was asked.
func (v *Observer) ask(ctx context.Context, r *observe.Reader, o observe.Owner) (etcd.Survey, error) {
	pods, err := r.MemberPods(ctx, o)
	if err != nil || len(pods) == 0 {
		return etcd.Survey{}, err
	}
	var now []string
	for _, p := range pods {
		now = append(now, string(p.UID))
	}
	if v.stale(now) {
		v.Close()
		if v.members, err = v.to.Cluster(ctx, r, o); err != nil {
			return etcd.Survey{}, err
		}
		v.pods, v.since = now, v.clock.Now()
	}
	said, err := v.members.Survey(ctx)
	v.ill = slices.ContainsFunc(said.Members, func(m etcd.Member) bool { return m.Err != nil })
	if _, split := errors.AsType[*etcd.SplitBrainError](err); split {
		return said, nil // what they said is worth showing
	}
	return said, err
}

// observe reads what the objects of Kubernetes say.
func (s *Observation) observe(ctx context.Context, r *observe.Reader) error {
	var err error
	if s.Pods, err = r.MemberPods(ctx, s.Owner); err != nil {
		return err
	}
	if s.Facts, err = r.Facts(ctx, s.Owner); err != nil {
		return err
	}
	if s.Conditions, err = r.Conditions(ctx, s.Owner, s.Facts); err != nil {
		return err
	}
	if s.Backup, err = backupOf(ctx, r, s.Owner, s.Facts); err != nil {
		return err
	}
	if s.Traffic, err = TrafficOf(ctx, r, s.Owner, s.Unseen); err != nil {
		return err
	}
	return s.place(ctx, r)
}

// place judges where the members run.
func (s *Observation) place(ctx context.Context, r *observe.Reader) error {
	var err error
	s.governed, err = r.PolicyFor(ctx, s.Owner)
	if apierrors.IsForbidden(err) {
		s.Unseen = append(s.Unseen, v1alpha1.Unseen{What: "etcdtopologypolicies.policy.kubectl-etcd.dev", Why: err.Error()})
	} else if err != nil && !meta.IsNoMatchError(err) {
		return err
	}
	p := s.governed.Policy
	if p == nil {
		p = &policyv1alpha1.EtcdTopologyPolicy{}
	}
	s.Settings = observe.BudgetSettings(p)
	settings := observe.SpreadSettings(p)
	pod, found, err := r.MemberPod(ctx, s.Owner)
	if err != nil {
		return err
	}
	if s.Owner.ReadOnly() && len(s.Pods) > 0 {
		pod, found = s.Pods[0], true
	}
	if !found {
		return nil
	}
	facts, err := r.SpreadOutlook(ctx, s.Owner, pod, settings.ZoneKey)
	if err != nil {
		return err
	}
	members, err := r.Placement(ctx, s.Owner, settings.ZoneKey)
	if err != nil {
		return err
	}
	s.verdict = spread.Evaluate(facts, settings)
	s.Standing = spread.StatusOf(int(s.Owner.Replicas), members, s.verdict.Topology, facts.Nodes)
	return nil
}

// readUnderWay reads what is being done. A journal that nobody can read is told:
// something may be half done.
func (s *Observation) readUnderWay(ctx context.Context, r client.Reader) {
	var err error
	if s.underWay, err = membership.ReadUnderWay(ctx, r, s.Owner); err != nil {
		s.Unseen = append(s.Unseen, v1alpha1.Unseen{What: "operations under way", Why: err.Error()})
	}
}

// readEvents reads the warnings about the cluster's objects. They are read apart
// since only warnings are wanted.
func (s *Observation) readEvents(ctx context.Context, r client.Reader) error {
	var list corev1.EventList
	err := r.List(ctx, &list, client.InNamespace(s.Owner.Namespace), client.MatchingFields{"type": corev1.EventTypeWarning})
	if apierrors.IsForbidden(err) {
		s.Unseen = append(s.Unseen, v1alpha1.Unseen{What: "events", Why: err.Error()})
		return nil
	}
	s.Events = list.Items
	return err
}
