// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restart"
)

// TestResumeCoordinated: the usual restart doesn't continue one that stops all members.
func TestResumeCoordinated(t *testing.T) {
	t.Parallel()
	o := owner.Owner{WorkloadKind: owner.StatefulSet, Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main"}
	for _, strategy := range []restart.Strategy{"", restart.Rolling} {
		task := &task{options: options{strategy: strategy}, cluster: &app.Cluster{Owner: o}}
		found := &restart.Record{Strategy: restart.Coordinated, Together: &restart.Together{Replicas: 3}}
		found.Journal().Kind, found.Journal().Payload = journal.KindRestart, []byte(`{"strategy":"coordinated"}`)
		_, err := task.resume(t.Context(), found)
		const resume, abort = "kubectl etcd restart statefulset/main --strategy coordinated -n team", "kubectl etcd restart statefulset/main --abort -n team"
		if err == nil || !strings.Contains(err.Error(), resume) || !strings.Contains(err.Error(), abort) {
			t.Errorf("strategy %q: the error is %v", strategy, err)
		}
	}
}
