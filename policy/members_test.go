// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"fmt"
	"strings"
	"time"
)

// Members are written as a string, one letter each. Voters:
//
//	v  well: the member is ready and so is its pod
//	x  down: neither is
//	p  the pod is Ready, the member is not
//	m  the member is ready, its pod is not
//
// Learners are the same in capitals; - is a member that is not there, and + a
// Ready pod under the budget that is no member.
const kinds = "vxpmVXPM"

func cluster(members string) Cluster {
	c := Cluster{Namespace: "shoot", Name: "main", Size: len(members)}
	for _, letter := range members {
		switch letter {
		case '+':
			c.Strangers++
			c.Size--
		case '-':
		default:
			kind := strings.ToLower(string(letter))
			c.Members = append(c.Members, Member{
				Pod:      fmt.Sprintf("main-%d", len(c.Members)),
				Exists:   true,
				PodReady: kind == "v" || kind == "p",
				Ready:    kind == "v" || kind == "m",
				Learner:  kind != string(letter),
			})
		}
	}
	return c
}

// settings are the defaults of an EtcdTopologyPolicy.
var settings = BudgetSettings{BackupHoldLimit: time.Hour, StaleLimit: 10 * time.Minute, Settle: time.Minute}

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func reasonsOf(notes []Note) string {
	var reasons []string
	for _, n := range notes {
		reasons = append(reasons, n.Reason)
	}
	return strings.Join(reasons, " ")
}
