// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gomodules.xyz/jsonpatch/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
	"sigs.k8s.io/json"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

const serviceHandler = "service"

// The reasons of decisions on Services.
const (
	reasonCutWritten    = "CutWritten"
	reasonCutKept       = "CutKept"
	reasonCutEnded      = "CutEnded"
	reasonCutUnreadable = "CutUnreadable"
)

// Service keeps a cut of client traffic in a Service's selector while it has
// not expired, whoever writes the Service without it. A cut ends early by its
// value: whoever writes one that has passed may take the key away in the next
// write. A value whose end can't be read is never let in: it would cut for good.
//
// The controller takes expired cuts away by its own clock; it writes as self
// and is let through.
func Service(now clock.PassiveClock, self string) admission.HandlerFunc {
	return func(_ context.Context, req admission.Request) admission.Response {
		d := decision{outcome: ignored, reason: reasonOwnWrite}
		if self == "" || req.UserInfo.Username != self {
			d = keepCut(req, now.Now())
		}
		d.handler = serviceHandler
		return respond(d)
	}
}

func keepCut(req admission.Request, now time.Time) decision {
	before, after, err := readServices(req)
	if err != nil {
		return decision{outcome: failedOpen, reason: reasonUnreadable, warnings: []string{
			fmt.Sprintf("a cut of client traffic is not kept in Service %s: %v", req.Name, plainly(err)),
		}}
	}
	wrote, written := after.Spec.Selector[v1alpha1.ClientTrafficKey]
	if after.DeletionTimestamp != nil || after.Spec.ClusterIP == corev1.ClusterIPNone {
		// A headless Service is the members' own: a cut there, which nobody
		// here makes, must be easy to undo.
		return decision{outcome: ignored, reason: reasonNothingToDo}
	}
	if _, readable := observe.CutUntil(after); readable {
		return decision{outcome: unchanged, reason: reasonCutWritten}
	}
	until, cut := observe.CutUntil(before)
	switch {
	case cut && until.After(now):
		return decision{
			outcome: patched, reason: reasonCutKept,
			patch: []jsonpatch.Operation{setCut(after, before.Spec.Selector[v1alpha1.ClientTrafficKey])},
			warnings: []string{fmt.Sprintf("client traffic of Service %s is cut until %s, so its selector keeps %s; to restore it before: kubectl etcd restore-client-traffic service/%s",
				req.Name, until.UTC().Format(time.RFC3339), v1alpha1.ClientTrafficKey, req.Name)},
		}
	case written:
		return decision{
			outcome: patched, reason: reasonCutUnreadable,
			patch: []jsonpatch.Operation{jsonpatch.NewOperation("remove", cutPath, nil)},
			warnings: []string{fmt.Sprintf("the selector of Service %s doesn't get %s=%q, since a cut must say its end: %s and a Unix time",
				req.Name, v1alpha1.ClientTrafficKey, wrote, v1alpha1.ClientTrafficPrefix)},
		}
	}
	return decision{outcome: unchanged, reason: reasonCutEnded}
}

// cutPath is where the key stands.
var cutPath = "/spec/selector/" + strings.ReplaceAll(v1alpha1.ClientTrafficKey, "/", "~1")

// setCut puts the key into a selector and leaves the rest of it as it is written.
func setCut(service *corev1.Service, value string) jsonpatch.Operation {
	if len(service.Spec.Selector) == 0 {
		return jsonpatch.NewOperation("add", "/spec/selector", map[string]string{v1alpha1.ClientTrafficKey: value})
	}
	return jsonpatch.NewOperation("add", cutPath, value)
}

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
