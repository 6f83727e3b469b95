// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// handler decides about the requests of one kind.
type handler interface {
	decide(ctx context.Context, req admission.Request) Decision
}

// endpoint answers the requests of one path.
type endpoint struct {
	entry   entries.Handler
	handler handler
	clock   clock.PassiveClock
	metrics *metrics
}

// Handle implements admission.Handler.
func (e *endpoint) Handle(ctx context.Context, req admission.Request) admission.Response {
	began := e.clock.Now()
	ctx, cancel := context.WithTimeout(source.OnBehalf(ctx, req.Namespace), e.entry.Limit)
	defer cancel()
	d := e.decide(ctx, req)
	e.metrics.record(e.entry.Name, d, e.clock.Since(began))
	return respond(req, d)
}

// decide asks the handler. It replaces a missing Decision, or one without a reason, by the safe one, and lets the
// request pass if the handler panics. controller-runtime answers a panic with a refusal,
// which failurePolicy Ignore doesn't cover: an object that no test foresaw would keep its
// pod from ever being created.
func (e *endpoint) decide(ctx context.Context, req admission.Request) (d Decision) {
	defer func() {
		cause := recover()
		switch {
		case cause != nil:
			log.FromContext(ctx).Error(fmt.Errorf("panic: %v", cause), "no decision on a request", "handler", e.entry.Name, "stack", string(debug.Stack()))
			if e.entry.FailurePolicy == admissionregistrationv1.Ignore {
				d = Decision{Outcome: FailedOpen, Reason: reasons.Undecided, Warnings: []string{internalError(req, "passes unchanged")}}
				return
			}
		case d.Outcome == "", d.Reason == policy.Reason{}:
			log.FromContext(ctx).Error(errors.New("the handler returned none, or one without a reason"), "no decision on a request", "handler", e.entry.Name)
		default:
			return
		}
		d = undecided(e.entry, req)
	}()
	return e.handler.decide(ctx, req)
}

// undecided returns the safe Decision for a request that a handler didn't decide about.
// The request of a guard may remove a member, so it is refused. Any other passes: what it
// misses is a patch or a warning.
func undecided(e entries.Handler, req admission.Request) Decision {
	if e.Guard || e.FailurePolicy == admissionregistrationv1.Fail {
		return Decision{Outcome: Denied, Reason: reasons.Undecided, Message: internalError(req, "is refused")}
	}
	return Decision{Outcome: FailedOpen, Reason: reasons.Undecided, Warnings: []string{internalError(req, "passes unchanged")}}
}

func internalError(req admission.Request, consequence string) string {
	return fmt.Sprintf("%s %s %s, because etcd-webhook had an internal error; see its log", req.Kind.Kind, req.Name, consequence)
}
