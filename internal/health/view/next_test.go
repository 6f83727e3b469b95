// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package view

import "testing"

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
