// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollout

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
)

// gaps are the ways in which a rollout loses the policy that holds it. Each returns how it ends.
var gaps = []struct {
	name string
	open func(*stage) (shut func())
}{
	{"deleted", func(s *stage) func() {
		at := slices.IndexFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == "policy" })
		gone := s.Objects[at]
		s.Objects = slices.Delete(s.Objects, at, at+1)
		return func() { s.Put(gone) }
	}},
	{"off", func(s *stage) func() {
		return s.changePolicy(func(p *v1alpha1.EtcdTopologyPolicySpec) { p.Mode = v1alpha1.ModeOff })
	}},
	{"mode Warn", func(s *stage) func() {
		return s.changePolicy(func(p *v1alpha1.EtcdTopologyPolicySpec) { p.Mode = v1alpha1.ModeWarn })
	}},
	{"guard Warn", func(s *stage) func() {
		return s.changePolicy(func(p *v1alpha1.EtcdTopologyPolicySpec) { p.Rollout.Guard = v1alpha1.ModeWarn })
	}},
	{"guard Off", func(s *stage) func() {
		return s.changePolicy(func(p *v1alpha1.EtcdTopologyPolicySpec) { p.Rollout.Guard = v1alpha1.ModeOff })
	}},
	{"selects others", func(s *stage) func() {
		return s.changePolicy(func(p *v1alpha1.EtcdTopologyPolicySpec) {
			p.ClusterSelector = &v1alpha1.Selector{MatchLabels: map[string]v1alpha1.LabelValue{"some": "other"}}
		})
	}},
	{"another of a higher priority", func(s *stage) func() {
		s.Put(&v1alpha1.EtcdTopologyPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: "another", UID: "another"},
			Spec:       v1alpha1.EtcdTopologyPolicySpec{Mode: v1alpha1.ModeEnforce, Priority: 1},
		})
		return func() {
			s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == "another" })
		}
	}},
	{"a tie of two that don't hold it", func(s *stage) func() {
		shut := s.changePolicy(func(p *v1alpha1.EtcdTopologyPolicySpec) { p.Mode = v1alpha1.ModeWarn })
		s.tie()
		return func() {
			s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool { return o.GetUID() == "another" })
			shut()
		}
	}},
	{"opt-out", func(s *stage) func() { return s.annotate(v1alpha1.TopologyPolicyAnnotation, v1alpha1.OptOut) }},
	{"no etcd", func(s *stage) func() { return s.annotate(v1alpha1.EtcdAnnotation, v1alpha1.NotEtcd) }},
}

// changePolicy changes the stage's policy, and returns how that is undone.
func (s *stage) changePolicy(edit func(*v1alpha1.EtcdTopologyPolicySpec)) (undo func()) {
	s.t.Helper()
	var before v1alpha1.EtcdTopologyPolicySpec
	change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { before = *p.Spec.DeepCopy(); edit(&p.Spec) })
	return func() {
		change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec = before })
	}
}

// annotate annotates the StatefulSet, and returns how that is undone.
func (s *stage) annotate(key, value string) (undo func()) {
	s.t.Helper()
	change(s, "etcd", func(o *appsv1.StatefulSet) { o.Annotations[key] = value })
	return func() {
		change(s, "etcd", func(o *appsv1.StatefulSet) { delete(o.Annotations, key) })
	}
}

// failUpdated has the highest pod fail with the new template, which holds the rollout without a limit.
func (s *stage) failUpdated() {
	s.t.Helper()
	s.update(2)
	s.unready(2)
	s.expectStep("partition 3 RolloutUpdatedNotReady")
}

// TestRolloutEndsWithItsPolicy checks that a rollout waits for the settle time when its policy goes, and
// that nothing stays held after that.
func TestRolloutEndsWithItsPolicy(t *testing.T) {
	t.Parallel()
	for _, gap := range gaps {
		t.Run(gap.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.failUpdated()
			gap.open(s)
			s.expectStep("partition 3 RolloutUnguarded")
			s.advance(59 * time.Second)
			s.expectStep("partition 3 RolloutUnguarded")
			s.advance(time.Second)
			s.expectStep("partition 0")
			for _, key := range []string{v1alpha1.RolloutValueAnnotation, v1alpha1.RolloutReleaseSinceAnnotation} {
				if text, has := controllertest.Find[*appsv1.StatefulSet](s.t, s.Objects, "etcd").Annotations[key]; has {
					t.Errorf("%s=%s remains", key, text)
				}
			}
		})
	}
}

// TestReplacedPolicyReleasesNoRollout checks that a policy that is back within the settle time holds the
// rollout as before, and that the settle time begins again with the next gap.
func TestReplacedPolicyReleasesNoRollout(t *testing.T) {
	t.Parallel()
	for _, gap := range gaps {
		t.Run(gap.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.failUpdated()
			for range 3 {
				shut := gap.open(s)
				s.expectStep("partition 3 RolloutUnguarded")
				s.advance(50 * time.Second)
				s.expectStep("partition 3 RolloutUnguarded")
				shut()
				s.expectStep("partition 3 RolloutUpdatedNotReady")
			}
		})
	}
}

// TestRolloutReleasedByHandAtOnce checks that a user's own release does not wait, whether a policy holds
// the rollout or not.
func TestRolloutReleasedByHandAtOnce(t *testing.T) {
	t.Parallel()
	for _, gap := range append(slices.Clip(gaps), struct {
		name string
		open func(*stage) (shut func())
	}{"none", func(*stage) func() { return nil }}) {
		t.Run(gap.name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.failUpdated()
			gap.open(s)
			s.annotate(v1alpha1.RolloutAnnotation, "release: because")
			s.expectStep("partition 0")
		})
	}
}

// TestGapOfTheSameReason loses the policy while a pod is being created again, for which a rollout is held in
// any case. Since when no policy holds it is recorded, although the reason stays.
func TestGapOfTheSameReason(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.Objects = slices.DeleteFunc(s.Objects, func(o client.Object) bool { return o.GetName() == "etcd-2" })
	s.expectStep("partition 3 RolloutPodAbsent")
	gaps[0].open(s)
	s.expectStep("partition 3 RolloutPodAbsent")
	s.advance(time.Minute)
	s.expectStep("partition 0")
}

// TestSettleOfThePolicy checks that the settle time is that of the policy that selects the cluster,
// if one does.
func TestSettleOfThePolicy(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.failUpdated()
	s.changePolicy(func(p *v1alpha1.EtcdTopologyPolicySpec) {
		p.Mode, p.Disruption.Settle = v1alpha1.ModeOff, &metav1.Duration{Duration: 5 * time.Minute}
	})
	s.expectStep("partition 3 RolloutUnguarded")
	s.advance(5*time.Minute - time.Second)
	s.expectStep("partition 3 RolloutUnguarded")
	s.advance(time.Second)
	s.expectStep("partition 0")
}

// TestGapsOfPolicies opens and ends gaps at random, each time with replicas without memory. No gap of
// less than the settle time releases anything, and every other one does. SEED repeats a run.
func TestGapsOfPolicies(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 100 {
		s := newStage(t)
		s.failUpdated()
		var shut func()
		var log []string
		open := time.Duration(0)
		for open < time.Minute && len(log) < 40 {
			switch {
			case shut == nil:
				gap := gaps[rng.IntN(len(gaps))]
				log, open, shut = append(log, gap.name), 0, gap.open(s)
			case rng.IntN(5) == 0:
				log = append(log, "end")
				shut()
				shut = nil
			default:
				d := time.Duration(1+rng.IntN(40)) * time.Second
				log, open = append(log, d.String()), open+d
				s.advance(d)
			}
			want := "partition 3 RolloutUnguarded"
			switch {
			case shut == nil:
				want = "partition 3 RolloutUpdatedNotReady"
			case open >= time.Minute:
				want = "partition 0"
			}
			if s.expectStep(want); t.Failed() {
				t.Fatal(log)
			}
		}
	}
}
