// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"net/http"
	"strings"

	"gomodules.xyz/jsonpatch/v2"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// outcome is what came of a review.
type outcome string

const (
	// ignored reviews are about what is not ours.
	ignored outcome = "Ignored"
	// unchanged objects need nothing.
	unchanged outcome = "Unchanged"
	// patched objects got something.
	patched outcome = "Patched"
	// warned requests got words alone.
	warned outcome = "Warned"
	// failedOpen reviews could not be judged; the request passes as it is.
	failedOpen outcome = "FailedOpen"
)

// The reasons of decisions that are not a rule's.
const (
	reasonNotEtcd     = "NotEtcd"
	reasonNoPolicy    = "NoPolicy"
	reasonOptedOut    = "OptedOut"
	reasonPolicyOff   = "PolicyOff"
	reasonConflict    = "PolicyConflict"
	reasonUnreadable  = "Unreadable"
	reasonUnobserved  = "Unobserved"
	reasonNoSelector  = "NoSelector"
	reasonNothingToDo = "NothingToDo"
	reasonCovered     = "Covered"
	reasonSpread      = "Spread"
	reasonWarnMode    = "PolicyWarns"
)

// The audit annotations of a review; the API server writes each after the name of the
// webhook that it asked. A review that was Ignored has none.
const (
	// auditOutcome is what came of the request: Unchanged, Patched, Warned (it got words
	// alone) or FailedOpen (it could not be judged, and passed as it was).
	auditOutcome = "outcome"
	// auditReason is why, in one word (see reasons.md).
	auditReason = "reason"
	// auditPolicy is the EtcdTopologyPolicy that was followed, absent where there was none.
	auditPolicy = "policy"
)

// decision is what a handler has to say of one request.
type decision struct {
	handler string
	outcome outcome
	reason  string
	// policy is the EtcdTopologyPolicy that was followed.
	policy   string
	patch    []jsonpatch.Operation
	warnings []string
}

// respond is the one place that makes responses. All of them allow: what may
// be refused is another handler's matter.
func respond(d decision) admission.Response {
	admissions.WithLabelValues(d.handler, string(d.outcome), d.reason).Inc()
	r := admission.Response{
		Patches: d.patch,
		AdmissionResponse: admissionv1.AdmissionResponse{
			Allowed: true,
			Result:  &metav1.Status{Code: http.StatusOK},
		},
	}
	for _, w := range d.warnings {
		r.Warnings = append(r.Warnings, wrap(w)...)
	}
	if d.outcome != ignored {
		r.AuditAnnotations = map[string]string{auditOutcome: string(d.outcome), auditReason: d.reason}
		if d.policy != "" {
			r.AuditAnnotations[auditPolicy] = d.policy
		}
	}
	return r
}

// maxWarning is the length that the API's guidance gives a warning; longer
// ones may be cut by whatever shows them.
const maxWarning = 120

// wrap breaks a warning between words into pieces that are short enough.
func wrap(text string) []string {
	const more = "... "
	var out []string
	line := ""
	for word := range strings.FieldsSeq(text) {
		if len(word) > maxWarning-len(more) {
			// Only a name nobody could have given is that long.
			word = word[:maxWarning-len(more)]
		}
		if line != "" && len(line)+1+len(word) > maxWarning {
			out = append(out, line)
			line = more + word
			continue
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	if line != "" {
		out = append(out, line)
	}
	return out
}
