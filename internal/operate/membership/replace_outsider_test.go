// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// TestCheckOutsider: the data of a pod that etcd's list doesn't have is only deleted if it is known to be lost, or with
// --force: the list may be that of another cluster.
func TestCheckOutsider(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		claim, force bool
		log          string
		refused      string
		warned       bool
	}{
		"its claim is bound, and its log shows nothing": {claim: true, refused: "its data seems to exist (volume claim data-main-1 has been bound"},
		"with --force":                    {claim: true, force: true, warned: true},
		"its peers refuse its cluster ID": {claim: true, log: `{"level":"fatal","error":"cluster ID mismatch"}`, refused: "may be a member of another cluster"},
		"it was removed":                  {claim: true, log: `{"level":"warn","msg":"server error","error":"the member has been permanently removed from the cluster"}`},
		"it found no data":                {claim: true, log: `{"level":"fatal","error":"member 1 has already been bootstrapped"}`},
		"it has no claim":                 {},
	} {
		s := well()
		s.template.template.Spec = corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: "/data"}}}}}
		s.configs[1].DataDir, s.configs[1].Container = "/data", "etcd"
		if row.claim {
			claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-main-1"}}
			claim.Status.Phase = corev1.ClaimBound
			s.claims["main-1"] = append(s.claims["main-1"], claim)
		}
		m := &Members{
			Owner: owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 3, Claims: []owner.Claim{{Template: "data"}}},
			Clock: clock.RealClock{},
			Logs:  func(context.Context, string, string, bool) (string, error) { return row.log, nil },
		}
		f := &operate.Findings{}
		if err := m.checkOutsider(t.Context(), s, "main-1", row.force, f); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(f.Refusals, "; "); !strings.Contains(got, row.refused) || row.refused == "" && got != "" || len(f.Warnings) > 0 != row.warned {
			t.Errorf("%s: refused %q, warned %q; want %q, %t", name, got, f.Warnings, row.refused, row.warned)
		}
	}
}
