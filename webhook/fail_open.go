// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"runtime/debug"

	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// failsOpen has a request pass whose handler panics. controller-runtime answers a
// panic with a refusal, which failurePolicy Ignore doesn't cover: an object that
// nobody foresaw would keep its pod from ever being created.
func failsOpen(name string, h admission.HandlerFunc) admission.HandlerFunc {
	return func(ctx context.Context, req admission.Request) (answer admission.Response) {
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			log.FromContext(ctx).Error(fmt.Errorf("panic: %v", cause), "cannot judge a request, which passes", "handler", name, "stack", string(debug.Stack()))
			answer = respond(decision{handler: name, outcome: failedOpen, reason: reasonUnreadable, warnings: []string{
				fmt.Sprintf("%s %s passes as it is: etcd-webhook can't judge it, by a fault of its own that its log has", req.Kind.Kind, req.Name),
			}})
		}()
		return h(ctx, req)
	}
}
