// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package rollouts

import (
	"context"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// TestUndoCommand: the undoing of a rollout names the revision that the healthy pods run, or there is no command.
func TestUndoCommand(t *testing.T) {
	t.Parallel()
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main", UID: "set"}, Status: appsv1.StatefulSetStatus{UpdateRevision: "main-c"}}
	revision := func(name, uid string, number int64) *appsv1.ControllerRevision {
		of := metav1.OwnerReference{Kind: "StatefulSet", Name: "main", UID: sts.UID, Controller: new(true)}
		if uid != "set" {
			of.UID = "other"
		}
		return &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, OwnerReferences: []metav1.OwnerReference{of}}, Revision: number}
	}
	kube := observetest.Objects{revision("main-a", "set", 1), revision("main-b", "set", 2), revision("main-c", "set", 3), revision("main-f", "other", 4)}
	for pods, want := range map[string]string{
		"a a":   "kubectl rollout undo statefulset/main --to-revision=1 -n team",
		"b b b": "kubectl rollout undo statefulset/main --to-revision=2 -n team",
		"a b":   "", // several
		"c c":   "", // the newest
		"d":     "", // not there
		"f":     "", // another's
		"":      "",
	} {
		var of []*corev1.Pod
		for letter := range strings.FieldsSeq(pods) {
			of = append(of, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{appsv1.StatefulSetRevisionLabel: "main-" + letter}}})
		}
		if got := UndoCommand(t.Context(), kube, sts, of, ""); got != want {
			t.Errorf("%q: %q, want %q", pods, got, want)
		}
	}
}

// forbidding is a user who may not read.
type forbidding struct{ client.Reader }

func (forbidding) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "controllerrevisions"}, key.Name, nil)
}

// TestUndoForbidden: a user who may not read revisions gets the command that lists them.
func TestUndoForbidden(t *testing.T) {
	t.Parallel()
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main"}, Status: appsv1.StatefulSetStatus{UpdateRevision: "main-c"}}
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{appsv1.StatefulSetRevisionLabel: "main-a"}}}
	got := UndoCommand(t.Context(), forbidding{}, sts, []*corev1.Pod{pod}, " --context a")
	if got != "kubectl rollout history statefulset/main -n team --context a; choose the revision that the healthy pods run for kubectl rollout undo --to-revision" {
		t.Errorf("%q", got)
	}
}
