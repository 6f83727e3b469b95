// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
)

// TestSizedCopy checks that the controller of budgets reads what a scale-in writes, and that
// a later one differs.
func TestSizedCopy(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	var sts appsv1.StatefulSet
	first := sizedCopy(&sts, 3, now).Annotations[v1alpha1.SizeAnnotation]
	later := sizedCopy(&sts, 3, now.Add(time.Minute)).Annotations[v1alpha1.SizeAnnotation]
	if n, ok := annotation.ParseSize(first); !ok || n != 3 {
		t.Errorf("%q is read as %d, %v", first, n, ok)
	}
	if first == later {
		t.Errorf("%q twice", first)
	}
	if len(sts.Annotations) > 0 {
		t.Error("the original changed")
	}
}
