// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// The audit annotations of a review. The API server writes the name of the webhook before each.
// An Ignored review has none.
const (
	// auditOutcome is the result of the request: Unchanged, Patched, Warned (only warnings
	// were sent), FailedOpen (it could not be judged, and passed unchanged) or Denied.
	auditOutcome = "outcome"
	// auditReason is the reason in CamelCase (see reasons.md).
	auditReason = "reason"
	// auditPolicy is the EtcdTopologyPolicy that applied. It is absent if there was none.
	auditPolicy = "policy"
)

// respond makes the response to a request. It is the only function that makes responses.
func respond(req admission.Request, d Decision) admission.Response {
	r := admission.Response{AdmissionResponse: admissionv1.AdmissionResponse{
		Allowed: d.Outcome.passes(),
		Result:  &metav1.Status{Code: http.StatusOK},
	}}
	if r.Allowed {
		r.Patches = d.Patch
	} else {
		r.Result = refusal(req, d.Message)
	}
	for _, w := range d.Warnings {
		r.Warnings = append(r.Warnings, wrap(w)...)
	}
	if d.Outcome != Ignored {
		r.AuditAnnotations = map[string]string{auditOutcome: string(d.Outcome), auditReason: d.Reason.Name()}
		if d.Policy != "" {
			r.AuditAnnotations[auditPolicy] = d.Policy
		}
	}
	return r
}

// refusal returns the status of a request that is refused. An eviction gets 429, the answer of a
// disruption budget: kubectl drain retries it, and gives up on any other. It has no
// retryAfterSeconds, since with them client-go would retry silently, and the client would
// not see the message.
func refusal(req admission.Request, message string) *metav1.Status {
	s := &metav1.Status{Status: metav1.StatusFailure, Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden, Message: message}
	if req.SubResource == "eviction" {
		s.Code, s.Reason = http.StatusTooManyRequests, metav1.StatusReasonTooManyRequests
	}
	return s
}

// maxWarning is the length that the API's guidance gives a warning. Clients may cut longer
// ones.
const maxWarning = 120

// command begins a warning that a user types. Up to maxCommand it stays in one line: the API server cuts warnings of
// more than 256 characters, and only if all of them have more than 4096.
const command = "kubectl "

// maxCommand is the length above which a command is broken. What is longer has more than a command.
const maxCommand = 200

// withCommands joins the parts of a command in a text to one, so that a user can copy it. A command ends with a
// punctuation mark or with the text.
func withCommands(all []string) []string {
	var out []string
	for i := 0; i < len(all); i++ {
		end := i
		for strings.TrimPrefix(all[i], "(") == "kubectl" && end < len(all)-1 && !strings.ContainsAny(all[end][len(all[end])-1:], ";,.:)") {
			end++
		}
		one := strings.Join(all[i:end+1], " ")
		if len(one) > maxCommand {
			one, end = all[i], i
		}
		out, i = append(out, one), end
	}
	return out
}

// wrap breaks a text at blanks into warnings that are short enough. It breaks no command that has at most maxCommand
// characters. Control characters, which an object's text may have, become blanks.
func wrap(text string) []string {
	const more = "... "
	text = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
	if strings.HasPrefix(text, command) && len(text) <= maxCommand {
		return []string{text}
	}
	var out []string
	line := ""
	for _, word := range withCommands(strings.Fields(text)) {
		if len(word) > maxWarning-len(more) && !strings.Contains(word, command) {
			// No name that the API server accepts is that long.
			word = truncate(word, maxWarning-len(more))
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

// truncate returns the beginning of a text that has at most so many bytes. It cuts no character.
func truncate(text string, size int) string {
	for size > 0 && !utf8.RuneStart(text[size]) {
		size--
	}
	return text[:size]
}
