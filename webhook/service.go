// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/json"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// serviceHandler keeps a cut of client traffic in a Service's selector until it expires. To
// end a cut early, a client writes a time that has passed, and removes the key in its next
// write. A value without a readable end is not accepted, since the cut would never expire.
//
// The controller removes expired cuts by its own clock. It writes as self.
type serviceHandler struct {
	clock clock.PassiveClock
	self  string
}

// serviceReview is what is known of a write of a Service.
type serviceReview struct {
	name          string
	before, after *corev1.Service
	now           time.Time
}

func (h *serviceHandler) decide(_ context.Context, req admission.Request) Decision {
	review, d := h.observe(req)
	if review == nil {
		return d
	}
	return review.keepCut()
}

// observe reads the Service before and after the write. It returns nil and a Decision for
// a write that leaves nothing to decide.
func (h *serviceHandler) observe(req admission.Request) (*serviceReview, Decision) {
	// The controller's own write.
	if isSelf(req, h.self) {
		return nil, Decision{Outcome: Ignored, Reason: reasons.OwnWrite}
	}
	before, after, err := readServices(req)
	if err != nil {
		return nil, Decision{Outcome: FailedOpen, Reason: reasons.Unreadable, Warnings: []string{
			fmt.Sprintf("Service %s is not checked for a cut of client traffic: %v", req.Name, withoutGoTypes(err)),
		}}
	}
	// A Service that is being deleted, or a headless one, which serves the members
	// themselves. This project never cuts it, so another client's cut must be easy to undo.
	if after.DeletionTimestamp != nil || after.Spec.ClusterIP == corev1.ClusterIPNone {
		return nil, Decision{Outcome: Ignored, Reason: reasons.NothingToDo}
	}
	// A write that sets or keeps a cut with a readable end, which may be another end.
	if _, readable := observe.CutUntil(after, h.clock.Now()); readable {
		return nil, Decision{Outcome: Unchanged, Reason: reasons.CutWritten}
	}
	return &serviceReview{name: req.Name, before: before, after: after, now: h.clock.Now()}, Decision{}
}

// keepCut restores a cut that has not expired, and removes one without a readable end.
func (r *serviceReview) keepCut() Decision {
	until, cut := observe.CutUntil(r.before, r.now)
	value, written := r.after.Spec.Selector[v1alpha1.ClientTrafficKey]
	switch {
	case cut && until.After(r.now):
		return Decision{
			Outcome: Patched, Reason: reasons.CutKept, Patch: []jsonpatch.Operation{setCut(r.after, r.before.Spec.Selector[v1alpha1.ClientTrafficKey])},
			Warnings: []string{fmt.Sprintf("client traffic of Service %s is cut until %s, so %s stays in its selector; to restore traffic earlier, run: kubectl etcd restore-client-traffic service/%s -n %s",
				r.name, format.Time(until), v1alpha1.ClientTrafficKey, r.name, r.before.Namespace)},
		}
	case written:
		return Decision{
			Outcome: Patched, Reason: reasons.CutUnreadable, Patch: []jsonpatch.Operation{jsonpatch.NewOperation("remove", cutPath, nil)},
			Warnings: []string{fmt.Sprintf("%s=%q is removed from the selector of Service %s: the value of a cut must have the form %sUNIXTIME, in seconds and at most %s ahead",
				v1alpha1.ClientTrafficKey, value, r.name, v1alpha1.ClientTrafficPrefix, policy.Duration(observe.LongestCut))},
		}
	}
	return Decision{Outcome: Unchanged, Reason: reasons.CutEnded}
}

// cutPath is the JSON pointer to the key of a cut.
var cutPath = "/spec/selector/" + pointerKey(v1alpha1.ClientTrafficKey)

// setCut puts the key of a cut into a Service's selector, and leaves the rest as it is.
func setCut(service *corev1.Service, value string) jsonpatch.Operation {
	if len(service.Spec.Selector) == 0 {
		return jsonpatch.NewOperation("add", "/spec/selector", map[string]string{v1alpha1.ClientTrafficKey: value})
	}
	return jsonpatch.NewOperation("add", cutPath, value)
}

// readServices decodes a Service before and after the write. A new Service was empty before.
func readServices(req admission.Request) (before, after *corev1.Service, err error) {
	before, after = &corev1.Service{}, &corev1.Service{}
	if err := json.UnmarshalCaseSensitivePreserveInts(req.Object.Raw, after); err != nil {
		return nil, nil, err
	}
	if len(req.OldObject.Raw) == 0 {
		return before, after, nil
	}
	return before, after, json.UnmarshalCaseSensitivePreserveInts(req.OldObject.Raw, before)
}
