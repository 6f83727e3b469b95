// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recovery

import (
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// split returns the members whose grace period is over, and those of which no object shows when it began.
func (s *state) split() (dated, undated []Member) {
	for _, m := range s.past {
		if m.Since.IsZero() {
			undated = append(undated, m)
		} else {
			dated = append(dated, m)
		}
	}
	return dated, undated
}

// notBack returns which members are not expected back by themselves, as part of a sentence.
func (s *state) notBack() string {
	dated, undated := s.split()
	var parts []string
	if len(dated) > 0 {
		parts = append(parts, policy.Names(names(dated), "has not been ready", "have not been ready")+" for longer than the grace period")
	}
	if len(undated) > 0 {
		parts = append(parts, policy.Names(names(undated), "is not healthy", "are not healthy")+" (no object shows since when)")
	}
	return strings.Join(parts, ", and ")
}
