// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberlist

import (
	"errors"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd/access"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestNoQuorum distinguishes members that are down from members that this user may not reach.
func TestNoQuorum(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"etcd has no quorum: 1 of 3 members healthy (not main-1, main-2), quorum is 2": errors.New("no answer"),
		"main-1 does not report its member list: authentication is enabled":            etcd.Explain(access.Endpoint{Pod: "main-1"}, rpctypes.ErrGRPCUserEmpty),
	} {
		s := etcd.Survey{Members: []etcd.Member{{Pod: "main-0", LeaderID: 1}, {Pod: "main-1", Err: err}, {Pod: "main-2", Err: err}}}
		if got := NoQuorum(s, owner.Owner{}); !strings.HasPrefix(got, want) {
			t.Errorf("%v: got %q, want %q", err, got, want)
		}
	}
}
