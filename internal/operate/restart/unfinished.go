// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"encoding/json"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
)

// Commands returns the command that continues the unfinished restart of a journal, and the one that ends it, without
// the flag for the namespace.
func Commands(o owner.Owner, j *journal.Journal) (resume, abort string) {
	command := "kubectl etcd restart " + o.Target().String()
	resume, abort = command, command+" --abort"
	if s, _ := strategyOf(j); s == Coordinated { // which stops all members, so it is continued by its name only
		resume += " --strategy " + string(Coordinated)
	}
	return resume, abort
}

// CutsTraffic reports whether a journal is of a restart that may cut client traffic until its end: one that is not
// rolling.
func CutsTraffic(j *journal.Journal) bool {
	s, known := strategyOf(j)
	return j.Kind == journal.KindRestart && (!known || s != Rolling)
}

// strategyOf returns the strategy of the restart of a journal, also of one that this version can't continue.
func strategyOf(j *journal.Journal) (s Strategy, known bool) {
	var of struct {
		Strategy Strategy `json:"strategy"`
	}
	err := json.Unmarshal(j.Payload, &of)
	return of.Strategy, err == nil
}
