// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"strings"
	"testing"
	"time"

	druidcommon "github.com/gardener/etcd-druid/api/common"
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
)

// TestReplicasNotReconciled sets an Etcd of three to five. Its budget stays that of three until etcd-druid acts
// on that, and blocks no drain. The condition is False meanwhile, because the spec asks for more.
func TestReplicasNotReconciled(t *testing.T) {
	t.Parallel()
	s := druid(t, "{}")
	s.reconcile()
	s.advance(5 * time.Second) // the leases' age is known then
	s.expect("main minAvailable=2 AllReady")
	change(s, "main", func(e *druidv1alpha1.Etcd) {
		e.Spec.Replicas, e.Generation = 5, 2
		e.Status.LastOperation = &druidcommon.LastOperation{State: druidv1alpha1.LastOperationStateSucceeded}
		e.Status.Members = make([]druidv1alpha1.EtcdMemberStatus, 3)
		for i := range e.Status.Conditions {
			if c := &e.Status.Conditions[i]; c.Type == druidv1alpha1.ConditionTypeAllMembersReady {
				c.Status, c.Reason = druidv1alpha1.ConditionFalse, "NotAllMembersReady"
			}
		}
	})
	s.expect("main minAvailable=2 AllReady")
	if got := strings.Join(controllertest.Recorded(t, s.events), "\n"); !strings.Contains(got, "ReplicasNotReconciled") {
		t.Errorf("recorded %q", got)
	}
	change(s, "main", func(e *druidv1alpha1.Etcd) {
		e.Annotations = map[string]string{druidv1alpha1.DruidOperationAnnotation: druidv1alpha1.DruidOperationReconcile}
	})
	s.expect("main minAvailable=3 MemberDown")
}
