// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"strings"
	"testing"

	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// TestPeersNoteIsQuoted: the peer URLs are from a pod, whose template other users write, and a shell reads the command.
func TestPeersNoteIsQuoted(t *testing.T) {
	t.Parallel()
	for due, want := range map[string]string{
		"https://main-0.main:2380": "--peer-urls=https://main-0.main:2380",
		"https://a$(reboot):2380":  "--peer-urls='https://a$(reboot):2380'",
	} {
		j := &Job{}
		s := &state{peers: map[string]peers{"main-0": {id: 1, due: []string{due}}}}
		c := rules.Coordinated{Abort: true}
		c.Members = []rules.Member{{Pod: "main-0", PeersDiffer: true}}
		j.notePeers(s, c)
		if len(j.notes) != 1 || !strings.HasSuffix(j.notes[0].Message, "etcdctl member update 0000000000000001 "+want) {
			t.Errorf("%s: %v", due, j.notes)
		}
	}
}
