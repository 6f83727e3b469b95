// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
)

// TestOldSizeLowersNothing applies a manifest with an old number of voters again and again, after kubectl
// etcd scale has written how many there are and the StatefulSet was scaled in past etcd.
func TestOldSizeLowersNothing(t *testing.T) {
	t.Parallel()
	for _, old := range []string{"3", "3 again", "3 at 2026-11-19T10:00:00Z", ""} {
		t.Run(old, func(t *testing.T) {
			t.Parallel()
			s := plainCreated(t)
			annotateSize(s, "5 at "+controllertest.Now.Format(time.RFC3339))
			scale(s, 5)
			s.expect("etcd-quorum minAvailable=3 AllReady")
			scale(s, 3)
			s.reconcile()
			annotateSize(s, old)
			for range 3 {
				s.reconcile()
				s.advance(time.Hour)
				s.expect("etcd-quorum minAvailable=3 MemberDown")
				removeBudget(s, "etcd-quorum") // the size is in memory then
			}
			annotateSize(s, "3 at "+s.clock.Now().Format(time.RFC3339))
			s.reconcile()
			s.advance(time.Hour)
			s.expect("etcd-quorum minAvailable=2 AllReady")
		})
	}
}
