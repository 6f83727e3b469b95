// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// TestFindLostVolume: no command patches a volume that is gone. Its member gets a new claim.
func TestFindLostVolume(t *testing.T) {
	t.Parallel()
	cluster := operatetest.NewCluster(t)
	claim := cluster.Get(operatetest.Path("PersistentVolumeClaim", "data-main-1"))
	operatetest.Field(claim, "spec")["volumeName"] = "gone"
	claim["status"] = apitest.Object{"phase": "Lost"}
	r := foundIn(t, cluster, 3)
	if strings.Join(r.Lost, " ") != "main-1" || !slices.Contains(r.Unbound, "data-main-1") {
		t.Fatalf("lost are %q, without a volume %q", r.Lost, r.Unbound)
	}
	lost := r.lostClaims()
	s := r.replaceClaims(lost)
	commands := strings.Join(s.Commands(step.Flags{}), "\n")
	if strings.Join(lost, " ") != "data-main-1" || strings.Contains(commands, "patch pv") || !strings.Contains(commands, "delete pvc --ignore-not-found data-main-1") || s.Why != "Their volumes are gone." {
		t.Errorf("%q: %s\n%s", lost, s.Why, commands)
	}
}
