// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// failing is a reader of which one read fails: the one of number at, from 0. If expire is set, the request's
// time is over instead, and the cache goes on to answer.
type failing struct {
	observetest.Objects
	at, reads int
	expire    context.CancelFunc
}

func (f *failing) fail() error {
	f.reads++
	if f.reads != f.at+1 {
		return nil
	}
	if f.expire != nil {
		f.expire()
		return nil
	}
	return errors.New("more than 50 reads a second")
}

func (f *failing) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Objects.Get(ctx, key, obj, opts...)
}

func (f *failing) List(ctx context.Context, list client.ObjectList, opts ...client.ListOption) error {
	if err := f.fail(); err != nil {
		return err
	}
	return f.Objects.List(ctx, list, opts...)
}

// TestNoFailedReadLoosens has each read of a review fail, and the time of the request end at each of them. None of it
// lets a client loosen a budget or change its record. The budget is of one cluster, or of two.
func TestNoFailedReadLoosens(t *testing.T) {
	t.Parallel()
	for what, objects := range map[string]observetest.Objects{
		"of two clusters": sharedByTwo(t, func(*appsv1.StatefulSet) {}),
		"of two clusters, one of which opted out": sharedByTwo(t, func(a *appsv1.StatefulSet) {
			a.Annotations = map[string]string{v1alpha1.TopologyPolicyAnnotation: v1alpha1.OptOut}
		}),
		"of one cluster": onlyOne(t),
	} {
		for _, expires := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, expires %t", what, expires), func(t *testing.T) {
				t.Parallel()
				unjudged := 0
				for at := 0; ; at++ {
					mutated, outcome, more := writeWithFailure(t, objects, at, expires)
					if got := parseBudget(t, mutated); got.Spec.MinAvailable == nil || got.Spec.MinAvailable.IntValue() < 5 || got.Annotations[v1alpha1.BudgetForAnnotation] != "StatefulSet/b" {
						t.Errorf("read %d fails: %s", at, mutated)
					}
					if outcome == string(FailedOpen) {
						t.Errorf("read %d fails: the write passed", at)
					}
					if !more {
						break
					}
					unjudged++
				}
				if unjudged < 4 {
					t.Errorf("the review reads only %d times", unjudged)
				}
			})
		}
	}
}

func onlyOne(t *testing.T) observetest.Objects {
	t.Helper()
	var out observetest.Objects
	for _, o := range sharedByTwo(t, func(*appsv1.StatefulSet) {}) {
		if name := o.GetName(); name != "a" && (len(name) < 2 || name[:2] != "a-") {
			out = append(out, o)
		}
	}
	return out
}

// writeWithFailure has a client write minAvailable 1 without our record onto a budget that is kept at 5, while the
// read of a number fails. It returns the budget that results, and whether the review has read so often.
func writeWithFailure(t *testing.T, objects observetest.Objects, at int, expires bool) (mutated []byte, outcome string, more bool) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	reader := &failing{Objects: objects, at: at}
	if expires {
		reader.expire = cancel
	}
	r := readerOf(objects)
	r.Reader = reader
	asked := []byte(`{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"budget","namespace":"db"},
"spec":{"minAvailable":1,"selector":{"matchExpressions":[{"key":"app","operator":"In","values":["a","b"]}]}}}`)
	request := admissionv1.AdmissionRequest{
		UID: "u", Operation: admissionv1.Update, Namespace: "db", Name: "budget", Resource: budgetResource,
		Object: runtime.RawExtension{Raw: asked}, OldObject: runtime.RawExtension{Raw: sharedBudget("b", 5)},
	}
	got := register(t, r, &liveObjects{objects: objects})[handlerOf(t, request).Path].Handle(ctx, admission.Request{AdmissionRequest: request})
	return apply(t, asked, got), got.AuditAnnotations[auditOutcome], reader.reads > at
}
