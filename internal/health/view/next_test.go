// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

func TestCovered(t *testing.T) {
	t.Parallel()
	shown := []string{"kubectl describe pod main-0 main-1 -n team", "kubectl etcd check main --only Q004 -n team"}
	for command, want := range map[string]bool{
		"kubectl describe pod main-0 main-1 -n team":  true,
		"kubectl describe pod main-1 -n team":         true,
		"kubectl describe pod main-2 -n team":         false,
		"kubectl describe pod main-0 main-2 -n team":  false,
		"kubectl etcd check main --only Q004 -n team": true,
		"kubectl etcd check main -n team":             false,
	} {
		if got := covered(shown, command); got != want {
			t.Errorf("%s: covered is %t, want %t", command, got, want)
		}
	}
}

// TestNextIsTypable: an instruction that lacks a value, or is more than a command, is not printed.
func TestNextIsTypable(t *testing.T) {
	t.Parallel()
	for fix, want := range map[string]bool{
		"kubectl scale statefulset main --replicas 5 -n team":                               true,
		"kubectl scale statefulset main --replicas N -n team":                               false,
		"kubectl scale statefulset main --replicas 5 -n team, by one at a time":             false,
		"kubectl annotate --overwrite statefulset/main kubectl-etcd.dev/backup-lease=LEASE": false,
		`kubectl patch etcdcluster main --type merge -p '{"spec":{"size":N}}'`:              false,
		`kubectl patch etcdcluster main --type merge -p '{"a":{"b":5},"c":"D"}'`:            true,
		"kubectl etcd recover statefulset/main --lost POD -n team":                          false,
		"kubectl etcd check statefulset/main --only M003 -n team --context INFRA":           true,
	} {
		if got := slices.Contains(nextCommands(&health.Facts{}, []health.Finding{{Fix: fix}}), fix); got != want {
			t.Errorf("%s: printed is %t, want %t", fix, got, want)
		}
	}
}

// TestNextNamesDiagnose: where data is known to be lost, the first command is the one that shows what to do.
func TestNextNamesDiagnose(t *testing.T) {
	t.Parallel()
	const diagnose = "kubectl etcd diagnose statefulset/main -n team"
	of := owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", Replicas: 3}
	fix := health.Finding{Fix: "kubectl describe pod main-2 -n team"}
	lost := &health.Facts{Owner: of, FatalLogs: map[string]string{"main-2": "member has already been bootstrapped"}}
	if got := nextCommands(lost, []health.Finding{fix}); got[0] != diagnose {
		t.Errorf("with lost data: %q", got)
	}
	if got := nextCommands(&health.Facts{Owner: of}, []health.Finding{fix}); slices.Contains(got, diagnose) {
		t.Errorf("without lost data: %q", got)
	}
}
