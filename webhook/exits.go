// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
)

// governing returns the policy that applies to an owner's cluster. Without one it returns
// nil, and the Decision on the request; what names the object in warnings.
func governing(ctx context.Context, r *observe.Reader, owner owner.Owner, req admission.Request, what string) (*v1alpha1.EtcdTopologyPolicy, Decision) {
	match, err := topologypolicy.For(ctx, r, owner)
	if err != nil {
		return nil, unobserved(what, req, err)
	}
	return applying(match, owner)
}

// applying returns the policy of a match that applies. Without one it returns nil, and the
// Decision on the request.
func applying(match topologypolicy.Match, owner owner.Owner) (*v1alpha1.EtcdTopologyPolicy, Decision) {
	switch {
	case match.OptedOut:
		return nil, Decision{Outcome: Ignored, Reason: reasons.OptedOut}
	case match.Separate != "":
		return nil, Decision{Outcome: Ignored, Reason: reasons.SeparateEtcds}
	case len(match.Conflict) > 0:
		return nil, Decision{Outcome: Warned, Reason: reasons.PolicyConflict, Warnings: []string{conflictWarning(match.Conflict, owner)}}
	case match.Policy == nil:
		return nil, Decision{Outcome: Ignored, Reason: reasons.NoPolicy}
	case match.Policy.Spec.Mode == v1alpha1.ModeOff:
		return nil, Decision{Outcome: Ignored, Reason: reasons.PolicyOff}
	}
	return match.Policy, Decision{}
}

// guarding returns the policy that a guard goes by, as governing does. Of policies with the same
// priority it is the one whose guard is the strictest: a second policy must not switch a guard off.
func guarding(ctx context.Context, r *observe.Reader, owner owner.Owner, req admission.Request, what string, mode func(*v1alpha1.EtcdTopologyPolicySpec) v1alpha1.Mode) (*v1alpha1.EtcdTopologyPolicy, Decision) {
	match, err := topologypolicy.For(ctx, r, owner)
	if err != nil {
		return nil, unobserved(what, req, err)
	}
	if len(match.Conflict) == 0 {
		return applying(match, owner)
	}
	strictness := []v1alpha1.Mode{v1alpha1.ModeOff, v1alpha1.ModeWarn, v1alpha1.ModeEnforce}
	return slices.MaxFunc(match.Tied, func(a, b *v1alpha1.EtcdTopologyPolicy) int {
		return slices.Index(strictness, mode(&a.Spec)) - slices.Index(strictness, mode(&b.Spec))
	}), Decision{}
}

// isSelf reports whether the controller made the request.
func isSelf(req admission.Request, self string) bool {
	return self != "" && req.UserInfo.Username == self
}

// unreadable lets an object pass that can't be decoded. The API server decides whether
// it is valid.
func unreadable(what string, req admission.Request, err error) Decision {
	return Decision{Outcome: FailedOpen, Reason: reasons.Unreadable, Warnings: []string{notApplied(what, req.Name, withoutGoTypes(err))}}
}

// unobserved lets a request pass that can't be judged now. A member without terms starts;
// a refusal could keep a cluster from regaining its quorum.
func unobserved(what string, req admission.Request, err error) Decision {
	return Decision{Outcome: FailedOpen, Reason: reasons.Unobserved, Warnings: []string{notApplied(what, req.Name, err)}}
}

func notApplied(what, name string, err error) string {
	return fmt.Sprintf("EtcdTopologyPolicy is not applied to %s %s: %v", what, name, err)
}

func conflictWarning(policies []string, owner owner.Owner) string {
	return fmt.Sprintf("EtcdTopologyPolicies %s select %s with the same priority, so none applies; give one a higher priority",
		strings.Join(policies, ", "), owner)
}

// withoutGoTypes rewords an error of decoding that names a Go type.
func withoutGoTypes(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("field %s must not be a JSON %s", wrong.Field, wrong.Value)
	}
	return err
}
