// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"slices"
	"strings"
)

// NodesLost returns why the nodes of members are lost, each once and after a colon. It is empty if no node is.
func NodesLost(members []Member) string {
	var why []string
	for _, m := range members {
		if m.NodeLost != "" && !slices.Contains(why, m.NodeLost) {
			why = append(why, m.NodeLost)
		}
	}
	if len(why) == 0 {
		return ""
	}
	return ": " + strings.Join(why, ", ")
}
