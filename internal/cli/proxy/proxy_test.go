// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"strings"
	"testing"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
)

// TestNoVoters checks that a proxy without endpoints is an error.
func TestNoVoters(t *testing.T) {
	t.Parallel()
	reader := &observe.Reader{Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
	c := &app.Cluster{Reader: reader, Members: &etcd.Cluster{Endpoints: make([]access.Endpoint, 1)}}
	learners := etcd.Survey{Members: []etcd.Member{{Pod: "main-0", Learner: true}}}
	for _, row := range []struct {
		survey etcd.Survey
		one    bool
		want   string
	}{
		{want: "has no pods"},
		{one: true, want: "has no pods"},
		{survey: learners, one: true, want: "no pod with a voter"},
	} {
		_, err := listen(t.Context(), c, row.survey, options{one: row.one, address: "127.0.0.1"})
		if err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("--one %t of %d members: %v, want %q", row.one, len(row.survey.Members), err, row.want)
		}
	}
}
