// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// TestWayBack: a member is to be replaced only where member replace can do it, with a quorum.
func TestWayBack(t *testing.T) {
	t.Parallel()
	c := policy.Cluster{Namespace: "team", Name: "main", Target: "statefulset/main"}
	const replace, diagnose = "if its data is lost (kubectl etcd member replace statefulset/main -n team main-x)", "kubectl etcd diagnose statefulset/main -n team shows how"
	for members, want := range map[string]string{"vvx": replace, "vxx": diagnose, "x": diagnose, "vx": diagnose, "vvxl": replace, "vxxl": diagnose, "vvvvx": replace} {
		var all []Database
		for _, kind := range members {
			m := Database{Pod: "main-" + string(kind), Learner: kind == 'l'}
			if kind == 'x' {
				m.Trouble = "does not answer"
			}
			all = append(all, m)
		}
		if v := allHealthy(c, all); v.Allowed || v.Reason != policy.MemberDown || !strings.HasSuffix(v.Message, want) && !strings.HasSuffix(v.Message, want+")") {
			t.Errorf("%s: %s", members, v.Message)
		}
	}
}
