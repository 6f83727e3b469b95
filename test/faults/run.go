// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/install"
	"github.com/kubectl-etcd/kubectl-etcd/test/testbed"
)

// Run plays a sequence on a new cluster, and deletes the cluster afterwards. The error of a broken
// invariant has all that is needed to understand it. log gets a line for each step.
func Run(ctx context.Context, bed *testbed.Testbed, kube client.Client, s Sequence, log func(line string)) (err error) {
	w, err := prepare(ctx, bed, kube, s, log)
	if w != nil {
		defer func() {
			if left := w.remove(context.WithoutCancel(ctx)); left != nil {
				err = errors.Join(err, fmt.Errorf("remove the cluster: %w", left))
			}
		}()
	}
	if err != nil {
		return err
	}
	w.ledger = keep(ctx, w.cluster)
	defer w.ledger.end()
	return w.play(ctx, s)
}

// play plays all steps and checks the invariants. It leaves no fault open.
func (w *world) play(ctx context.Context, s Sequence) error {
	stepping, stop := context.WithCancelCause(ctx)
	observing, end := context.WithCancel(context.WithoutCancel(ctx))
	var observed sync.WaitGroup
	observed.Go(func() { w.observe(observing, stop) })
	err := w.steps(stepping, s.Steps)
	if err == nil {
		err = w.heal(stepping)
	}
	end()
	observed.Wait()
	if cause := context.Cause(stepping); cause != nil && ctx.Err() == nil {
		err = cause // the steps only failed because of it
	}
	stop(nil)
	w.ledger.end()
	if err == nil {
		return nil
	}
	w.did("%v", err)
	after := context.WithoutCancel(ctx)
	report := w.report(after, s)
	return errors.Join(fmt.Errorf("%w\n%s", err, report), w.endAll(after))
}

func (w *world) steps(ctx context.Context, steps []Step) error {
	for _, s := range steps {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		w.begin(ctx, s)
		if s.End {
			if err := w.endOf(ctx, s); err != nil {
				return fmt.Errorf("%s: %w", s, err)
			}
			continue
		}
		outcome, end, err := faultOf(s.Fault).do(ctx, w, s)
		if end != nil {
			w.open[s] = end
		}
		if err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
		w.did("%s: %s", s, outcome)
	}
	return nil
}

// begin records which step is in progress. It reads how many requests etcd-webhook has not
// answered before the step.
func (w *world) begin(ctx context.Context, s Step) {
	counts, err := install.Counts(ctx, w.bed, install.FailedOpen)
	if err != nil {
		w.saw("%v", err)
	}
	w.saw("begin: %s", s)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.step, w.failedOpen, w.facts.deletes = s, counts, false
}

// endOf ends an open fault. A step that was left out, or whose request was refused, has nothing to
// end.
func (w *world) endOf(ctx context.Context, s Step) error {
	begun := s
	begun.End = false
	end, open := w.open[begun]
	if !open {
		w.did("%s: nothing to end", s)
		return nil
	}
	if err := end(ctx); err != nil {
		return err
	}
	delete(w.open, begun)
	w.did("%s: done", s)
	return nil
}

// endAll ends all faults that are still open after a failure, whatever the order.
func (w *world) endAll(ctx context.Context) error {
	var all []error
	for s, end := range w.open {
		// Waits are short, because no goroutine observes the cluster any more.
		ending, cancel := context.WithTimeout(ctx, endLimit)
		if err := end(ending); err != nil {
			all = append(all, fmt.Errorf("end of %s: %w", s, err))
		}
		cancel()
		delete(w.open, s)
	}
	return errors.Join(all...)
}
