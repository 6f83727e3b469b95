// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// model is a plain cluster of five voters with its budgets, policies and controller, and the
// eviction API over it. The voters are five whatever the StatefulSet has: etcd does not know of a scale.
type model struct {
	*stage
	down map[string]bool
	log  []string
	// protected reports whether a budget must protect the members: one did, and nothing
	// has happened since that may end that.
	protected bool
	// unrecorded reports whether nothing records any more that the cluster had more members.
	unrecorded bool
	// unkeptSince is since when no policy keeps the budget by someone's decision.
	unkeptSince time.Time
}

const modelVoters = 5

func newModel(t *testing.T) *model {
	t.Helper()
	m := &model{stage: plain(t, "{disruption: {createMissing: true, settle: 60s}}"), down: map[string]bool{}}
	removeBudget(m.stage, "etcd")
	m.scaleTo(modelVoters)
	m.reconcile()
	return m
}

// modelEvents are all that may happen in one step.
var modelEvents = []struct {
	name string
	do   func(*model)
}{
	{"tie", func(m *model) { m.drop("another"); tie(m.stage) }},
	{"untie", func(m *model) { m.drop("another") }},
	{"off", func(m *model) { m.setMode(v1alpha1.ModeOff) }},
	{"warn", func(m *model) { m.setMode(v1alpha1.ModeWarn) }},
	{"enforce", func(m *model) { m.setMode(v1alpha1.ModeEnforce) }},
	{"down 0", func(m *model) { m.setDown("etcd-0", true) }},
	{"down 1", func(m *model) { m.setDown("etcd-1", true) }},
	{"up", func(m *model) { m.setDown("", false) }},
	{"scale 3", func(m *model) { m.scaleTo(3) }},
	{"scale 5", func(m *model) { m.scaleTo(modelVoters); m.unrecorded = false }},
	{"partial", func(m *model) { m.foreign("minAvailable: 0, selector: {" + byPod + "}") }},
	{"whole", func(m *model) { m.foreign("minAvailable: 0, selector: {" + byApp + "}") }},
	{"percentage", func(m *model) { m.foreign("maxUnavailable: 80%, selector: {" + byApp + "}") }},
	{"always allow", func(m *model) {
		m.foreign("minAvailable: 1, unhealthyPodEvictionPolicy: AlwaysAllow, selector: {" + byApp + "}")
	}},
	{"namespace", func(m *model) { m.foreign("maxUnavailable: 4, selector: {}") }},
	{"no foreign", func(m *model) { m.drop("theirs") }},
	{"a moment", func(m *model) { m.advance(10 * time.Second) }},
	{"settled", func(m *model) { m.advance(time.Minute) }},
	{"restart", func(m *model) {
		// A size that is on no budget is not known any more.
		m.unrecorded = m.unrecorded || len(m.recorded()) == 0 && len(m.pods()) < modelVoters
		m.restart()
	}},
}

func (m *model) drop(uid string) {
	m.Objects = slices.DeleteFunc(m.Objects, func(o client.Object) bool { return string(o.GetUID()) == uid })
}

func (m *model) foreign(spec string) {
	m.drop("theirs")
	foreign(m.stage, "theirs", spec)
}

func (m *model) setMode(mode v1alpha1.Mode) {
	change(m.stage, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Mode = mode })
}

func (m *model) scaleTo(n int) {
	scale(m.stage, n)
	m.showReady()
}

// setDown makes a member's pod unready, or all Ready.
func (m *model) setDown(pod string, down bool) {
	if !down {
		m.down = map[string]bool{}
	} else {
		m.down[pod] = true
	}
	m.showReady()
}

func (m *model) showReady() {
	for _, pod := range m.pods() {
		status := corev1.ConditionTrue
		if m.down[pod.Name] {
			status = corev1.ConditionFalse
		}
		pod.Status.Conditions[0].Status = status
	}
}

func (m *model) pods() []*corev1.Pod {
	var out []*corev1.Pod
	for _, o := range m.Objects {
		if pod, ok := o.(*corev1.Pod); ok {
			out = append(out, pod)
		}
	}
	return out
}

// healthy counts the voters that answer.
func (m *model) healthy() int {
	n := 0
	for _, pod := range m.pods() {
		if !m.down[pod.Name] {
			n++
		}
	}
	return n
}

// admits is EvictionREST.Create of Kubernetes for one pod, with the status that the
// disruption controller writes for what stands now.
func (m *model) admits(pod *corev1.Pod) bool {
	var of []*policyv1.PodDisruptionBudget
	for _, o := range m.Objects {
		if pdb, ok := o.(*policyv1.PodDisruptionBudget); ok && m.selects(pdb, pod) {
			of = append(of, pdb)
		}
	}
	if len(of) != 1 {
		return len(of) == 0
	}
	pdb := of[0]
	selected, healthy := m.counts(pdb)
	value, problem := annotation.ValueOf(pdb.Name, &pdb.Spec)
	if problem != nil {
		m.t.Fatal(problem.Message)
	}
	desired := value.Min(selected)
	if value.Field == annotation.MaxUnavailable || value.Percent {
		desired = value.Min(len(m.pods())) // the replicas of the pods' controller
	}
	always := pdb.Spec.UnhealthyPodEvictionPolicy != nil && *pdb.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow
	if m.down[pod.Name] && (always || healthy >= desired && desired > 0) {
		return true
	}
	return healthy > desired
}

// counts returns how many pods a budget selects, and how many of them are healthy.
func (m *model) counts(pdb *policyv1.PodDisruptionBudget) (selected, healthy int) {
	for _, p := range m.pods() {
		if m.selects(pdb, p) {
			selected++
			if !m.down[p.Name] {
				healthy++
			}
		}
	}
	return selected, healthy
}

func (m *model) selects(pdb *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(pdb.Spec.Selector)
	if err != nil {
		m.t.Fatal(err)
	}
	return selector.Matches(labels.Set(pod.Labels))
}

// step does one thing, lets the controller follow, and tries every eviction.
func (m *model) step(event int) {
	m.log = append(m.log, modelEvents[event].name)
	modelEvents[event].do(m)
	if len(m.recorded()) == 0 {
		m.protected = false // its author took it away
	}
	m.reconcile()
	m.reconcile()
	finding, _ := m.budget.Findings.Get(m.key)
	m.follow(finding)
	if !m.protected || m.unrecorded || m.healthy() < policy.Quorum(modelVoters) {
		return
	}
	m.evictAll(func(pod string) {
		m.t.Errorf("after %s: the eviction of %s leaves %d of %d voters; budgets %q, finding %+v",
			strings.Join(m.log, ", "), pod, m.healthy(), modelVoters, m.budgets(), finding)
	})
}

// follow brings it up to date whether a budget must protect the members.
func (m *model) follow(finding v1alpha1.Finding) {
	switch {
	case finding.Verdict == v1alpha1.Kept:
		m.protected, m.unkeptSince = true, time.Time{}
	case finding.Verdict == v1alpha1.Broken:
		m.protected = false // reported
	case finding.Reason == reasons.PolicyConflict.Name():
		m.unkeptSince = time.Time{}
	case m.unkeptSince.IsZero():
		m.unkeptSince = m.clock.Now()
	case m.clock.Now().Sub(m.unkeptSince) >= time.Minute:
		m.protected = false // released
	}
}

// recorded returns the names of the budgets with our record.
func (m *model) recorded() []string {
	var out []string
	for _, o := range m.Objects {
		if pdb, ok := o.(*policyv1.PodDisruptionBudget); ok && pdb.Annotations[v1alpha1.BudgetForAnnotation] != "" {
			out = append(out, pdb.Name)
		}
	}
	return out
}

// evictAll evicts whatever the budgets admit without a new decision, and undoes it. lost is
// called if that costs the quorum.
func (m *model) evictAll(lost func(pod string)) (evicted int) {
	before := map[string]bool{}
	for pod := range m.down {
		before[pod] = true
	}
	defer func() { m.down = before }()
	for again := true; again; {
		again = false
		for _, pod := range m.pods() {
			if m.down[pod.Name] || !m.admits(pod) {
				continue
			}
			m.down[pod.Name] = true
			evicted, again = evicted+1, true
			if m.healthy() < policy.Quorum(modelVoters) {
				lost(pod.Name)
				return evicted
			}
		}
	}
	return evicted
}

// heal brings everything in order, and checks that a drain can go on after the settle time.
func (m *model) heal() {
	for _, name := range []string{"untie", "no foreign", "enforce", "scale 5", "up", "a moment", "settled", "settled"} {
		m.step(slices.IndexFunc(modelEvents, func(e struct {
			name string
			do   func(*model)
		},
		) bool {
			return e.name == name
		}))
	}
	if n := m.evictAll(func(string) {}); n != modelVoters-policy.Quorum(modelVoters) {
		m.t.Errorf("after %s: %d pods may be evicted; budgets %q", strings.Join(m.log, ", "), n, m.budgets())
	}
}

// TestHoldModel goes through every sequence of two events and random longer ones: policies
// that come, go and tie, foreign budgets of each kind, members that go down, and owners that
// scale past etcd. As long as the cluster isn't reported as unprotected or was
// released, no eviction that is admitted costs the quorum; and when everything is in order
// again, a drain goes on. SEED repeats a run.
func TestHoldModel(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	run := func(events ...int) {
		m := newModel(t)
		for _, e := range events {
			m.step(e)
		}
		m.heal()
		if t.Failed() {
			t.FailNow()
		}
	}
	for a := range modelEvents {
		for b := range modelEvents {
			run(a, b)
		}
	}
	for range 150 {
		var events []int
		for range 4 + rng.IntN(5) {
			events = append(events, rng.IntN(len(modelEvents)))
		}
		run(events...)
	}
}
