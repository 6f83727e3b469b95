// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/install"
)

const (
	// observeEvery is the interval between two observations.
	observeEvery = 500 * time.Millisecond
	// silence is how long all writes may fail while a majority runs. An election takes seconds,
	// also on a slow machine, and a client may wait for a frozen member at first.
	silence = 4 * time.Minute
)

// observe reads the pods until ctx ends, and calls violated for each broken invariant.
func (w *world) observe(ctx context.Context, violated func(error)) {
	ticker := time.NewTicker(observeEvery)
	defer ticker.Stop()
	before := ""
	var healthySince time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		seen, running, err := w.observeOnce(ctx, violated)
		if err != nil {
			seen = "no observation: " + err.Error() // as while the API server restarts
		}
		if ctx.Err() != nil {
			return
		}
		if seen != before {
			w.saw("%s", seen)
		}
		before = seen
		size := w.current()
		if err != nil || running < policy.Quorum(size) {
			healthySince = time.Time{}
			continue
		}
		if healthySince.IsZero() {
			healthySince = now()
		}
		if quiet := min(now().Sub(healthySince), now().Sub(w.ledger.lastAck())); quiet > silence {
			violated(fmt.Errorf("no write succeeded for %s, although %d of %d members run: %s: %w", quiet.Round(time.Second), running, size, w.ledger, errViolated))
			healthySince = now()
		}
	}
}

// observeOnce reads the pods and the budgets once. It returns what is to be seen, and how many
// members run.
func (w *world) observeOnce(ctx context.Context, violated func(error)) (seen string, running int, err error) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	var pods corev1.PodList
	if err := w.kube.List(ctx, &pods, client.InNamespace(w.cluster.Namespace), client.MatchingLabels(w.cluster.MemberLabels())); err != nil {
		return "", 0, err
	}
	at := now()
	all, _, err := w.budgets(ctx)
	if err != nil {
		return "", 0, err
	}
	w.refresh(ctx)

	w.mu.Lock()
	w.facts.budget = len(all) > 0
	removed := w.judge.see(at, pods.Items, w.facts.disturbed)
	w.running(pods.Items)
	running = w.judge.count(at, w.facts.disturbed)
	seen = fmt.Sprintf("%v, stopped by the test: %q", w.judge.seen, w.disturbedNow())
	for _, b := range all {
		seen += fmt.Sprintf("; budget %s: min %s, max %s", b.Name, b.Spec.MinAvailable, b.Spec.MaxUnavailable)
	}
	var unasked []string
	for _, r := range removed {
		if w.allowed[r.pod] == 0 {
			unasked = append(unasked, r.pod)
		} else {
			w.allowed[r.pod]--
		}
	}
	w.mu.Unlock()

	for _, pod := range unasked {
		violated(fmt.Errorf("pod %s was removed, and no step is about it: %w", pod, errViolated))
	}
	for _, r := range removed {
		w.decide(ctx, r, violated)
	}
	return seen, running, nil
}

// refresh clears facts that are no longer true: that nothing holds a rollout, and that the policy
// is not in force again.
func (w *world) refresh(ctx context.Context) {
	w.mu.Lock()
	loose, returns := w.facts.loose, w.policyReturns
	w.mu.Unlock()
	if loose {
		if _, done, err := w.rolledOut(ctx); err == nil && done {
			w.change(func(f *facts) { f.loose = false })
		}
	}
	if returns {
		if _, done, err := w.inForce(ctx); err == nil && done {
			w.mu.Lock()
			// The policy may have been switched off again meanwhile.
			if w.policyReturns {
				w.policyReturns, w.facts.guarded = false, true
			}
			w.mu.Unlock()
		}
	}
}

// decide decides about one removal. If it is a violation, decide first reads whether etcd-webhook
// answered all requests since the step began.
func (w *world) decide(ctx context.Context, r removal, violated func(error)) {
	w.mu.Lock()
	f, before, size := w.facts, w.failedOpen, w.size
	w.mu.Unlock()
	violation, excuse := r.verdict(f, size)
	if violation != "" && !f.unreviewed() {
		counts, err := install.Counts(ctx, w.bed, install.FailedOpen)
		f.unanswered = err != nil || counts != before
		violation, excuse = r.verdict(f, size)
	}
	w.mu.Lock()
	step := w.step
	w.mu.Unlock()
	switch {
	case violation != "":
		violated(fmt.Errorf("%s, in step %q: %w", violation, step, errViolated))
	case excuse != "":
		w.saw("no violation: %s", excuse)
	default:
		w.saw("pod %s was removed, %d others run", r.pod, r.left)
	}
}
