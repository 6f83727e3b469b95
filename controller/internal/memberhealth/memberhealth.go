// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package memberhealth asks members for their health by HTTP without TLS, where a policy allows that. A readiness
// probe that does not ask etcd can't show that a member hangs.
package memberhealth

import (
	"context"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

const (
	// Interval is the time between two questions to a member.
	Interval = 10 * time.Second
	// timeout bounds one question with the read of the pod before it.
	timeout = 2 * time.Second
	// failures is how many questions in a row without a good answer make a member unhealthy.
	failures = 2
	// keptFor is how long what is known of a pod is kept that is not asked any more.
	keptFor = time.Hour
)

// Asker has the last answers of members. It asks in the background, so that no member delays a reconciliation.
// Its fields must be set. It is safe for concurrent use.
type Asker struct {
	// Live reads a pod, because a cache has neither its commands nor its IP.
	Live  client.Reader
	Clock clock.PassiveClock

	// mu guards the queue and both maps together: an answer is of one moment in all three. A memory.Keyed for each map
	// would not give that.
	mu      sync.Mutex
	waiting queue
	members map[types.UID]*member
	// reached has the workloads of which a member has answered, whatever it answered, and when.
	reached map[types.UID]time.Time
	// get is [health], or that of a test.
	get func(ctx context.Context, host, port string) reply
}

// member is what is known of one pod.
type member struct {
	at    time.Time // of the last question that was put, zero for none
	tried time.Time
	// asking is true while a question waits or is put.
	asking bool
	// none is true if the pod shows no URL without TLS.
	none   bool
	well   bool
	failed int
}

// interval is how long the member is not asked again.
func (m *member) interval() time.Duration {
	if m.none {
		return 30 * Interval
	}
	return Interval
}

// Answer returns what the last answers of a pod's member show. They show nothing where no member of the workload
// has ever answered: then perhaps a network policy forbids it. Until that is clear, and after a question without a
// good answer, the next answer is awaited: this process may have asked nothing yet of a member that hangs.
func (a *Asker) Answer(pod *corev1.Pod) observe.Answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	m, workload := a.members[pod.UID], workloadOf(pod)
	now := a.Clock.Now()
	if m == nil || !m.asking && now.Sub(m.tried) >= m.interval() {
		m = a.begin(pod, m, now)
	}
	_, reached := a.reached[workload]
	switch {
	case m.none || !reached && m.failed >= failures:
		return observe.Answer{}
	case m.failed >= failures: // until it answers
		return observe.Answer{Known: true}
	case !reached || !m.well || now.Sub(m.at) > 3*Interval: // an old answer shows nothing
		return observe.Answer{Awaited: true}
	}
	return observe.Answer{Known: true, Healthy: true, Awaited: m.failed > 0}
}

// begin has a member be asked, after those that wait already.
func (a *Asker) begin(pod *corev1.Pod, m *member, now time.Time) *member {
	if a.members == nil {
		a.members, a.reached = map[types.UID]*member{}, map[types.UID]time.Time{}
	}
	if m == nil {
		a.removeOld(now)
		m = &member{}
		a.members[pod.UID] = m
	}
	m.asking = true
	a.waiting.add(question{pod: client.ObjectKeyFromObject(pod), uid: pod.UID, workload: workloadOf(pod)})
	a.next()
	return m
}

// next puts the questions that may be put now.
func (a *Asker) next() {
	for q, ok := a.waiting.take(); ok; q, ok = a.waiting.take() {
		go a.ask(q)
	}
}

// removeOld removes what was not asked for a while.
func (a *Asker) removeOld(now time.Time) {
	for uid, m := range a.members {
		if !m.asking && now.Sub(m.tried) > keptFor {
			delete(a.members, uid)
		}
	}
	for uid, at := range a.reached {
		if now.Sub(at) > keptFor {
			delete(a.reached, uid)
		}
	}
}

// ask asks one member, and records its answer.
func (a *Asker) ask(q question) {
	ctx, cancel := context.WithTimeout(context.Background(), timeout) //nolint:forbidigo // it goes on after the reconciliation that asks, for this long
	defer cancel()
	var pod corev1.Pod
	port, got := "", silent
	err := a.Live.Get(ctx, q.pod, &pod)
	if err == nil && pod.UID == q.uid && pod.Status.PodIP != "" {
		if port = etcdconf.PlainHealthPort(&pod); port != "" {
			got = a.health(ctx, pod.Status.PodIP, port)
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting.done(q)
	defer a.next()
	m := a.members[q.uid]
	now := a.Clock.Now()
	m.asking, m.tried = false, now
	if _, reached := a.reached[q.workload]; reached || got != silent {
		a.reached[q.workload] = now
	}
	switch {
	case err != nil || pod.UID != q.uid: // nothing is known of the member
		return
	case port == "":
		m.none = pod.Status.PodIP != ""
	case got == healthy:
		m.well, m.failed = true, 0
	default:
		m.failed++
	}
	m.at = now
}

func (a *Asker) health(ctx context.Context, host, port string) reply {
	if a.get != nil {
		return a.get(ctx, host, port)
	}
	return health(ctx, host, port)
}

// workloadOf returns the UID of what controls a pod, or that of the pod.
func workloadOf(pod *corev1.Pod) types.UID {
	if ref := metav1.GetControllerOfNoCopy(pod); ref != nil {
		return ref.UID
	}
	return pod.UID
}
