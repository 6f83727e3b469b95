// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import "strings"

// Command returns the command that drains nodes.
func (j *Job) Command(nodes []string) string {
	return "kubectl etcd drain-plan " + strings.Join(nodes, " ") + j.Args + j.Flags + " --run"
}

// Next returns what is left of a run that has ended early, and how to go on.
func (r *Run) Next() string {
	if len(r.Cordoned) == 0 {
		return "nothing was changed; run the same command again"
	}
	text := "these nodes stay cordoned, and kubectl uncordon " + strings.Join(r.Cordoned, " ") + r.Flags + " makes them schedulable again"
	if len(r.Left) > 0 {
		text += "; to continue: " + r.Command(r.Left)
	}
	return text
}
