// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// Facts returns one line for each member, for a plan: its role, sizes and alarms.
func Facts(databases []maintenance.Database) []string {
	var facts []string
	for _, d := range databases {
		role := "follower"
		switch {
		case d.Trouble != "":
			facts = append(facts, fmt.Sprintf("%s  %s", d.Pod, d.Trouble))
			continue
		case d.Leader:
			role = "leader"
		case d.Learner:
			role = "learner"
		}
		quota := ""
		if d.Quota > 0 {
			quota = fmt.Sprintf(" of a quota of %s", policy.Bytes(d.Quota))
		}
		fact := []string{fmt.Sprintf("%s  %-8s  %s%s, %s in use", d.Pod, role, policy.Bytes(d.Size), quota, policy.Bytes(d.InUse))}
		for _, alarm := range d.Alarms {
			fact = append(fact, "alarm "+alarm)
		}
		facts = append(facts, strings.Join(fact, ", "))
	}
	return facts
}
