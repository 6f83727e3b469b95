// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/journal"
)

// TestCutsTraffic: a restart that is not known to be rolling may have cut client traffic.
func TestCutsTraffic(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]bool{
		`{"strategy":"rolling"}`: false, `{"strategy":"coordinated"}`: true, `{"strategy":"other"}`: true, `{}`: true, `{"strategy":1}`: true,
	} {
		if got := CutsTraffic(&journal.Journal{Kind: journal.KindRestart, Payload: []byte(payload)}); got != want {
			t.Errorf("%s: %t, want %t", payload, got, want)
		}
	}
	if CutsTraffic(&journal.Journal{Kind: "scale", Payload: []byte(`{}`)}) {
		t.Error("a change of members is taken for a restart")
	}
}
