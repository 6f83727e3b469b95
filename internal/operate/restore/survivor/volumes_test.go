// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package survivor

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// TestOfVolumes: of several volumes, the one with the highest revision is restored, unless the user chooses another one.
func TestOfVolumes(t *testing.T) {
	t.Parallel()
	read := []etcd.Member{{Pod: "main-0", Revision: 100}, {Pod: "main-2", Revision: 102}, {Pod: "main-4", Revision: 102}}
	for chosen, want := range map[string]string{"": "main-2", "main-0": "main-0", "main-1": ""} {
		s, err := OfVolumes(owner.Owner{}, read, chosen)
		if (err != nil) != (want == "") || err == nil && s.Source.Pod != want || s.Revision() != 102 {
			t.Errorf("%q: %+v, %v, want %s", chosen, s, err, want)
		}
		if err != nil && !strings.Contains(err.Error(), "main-1 is chosen with --member, and --from-volume names only main-0, main-2 and main-4") {
			t.Errorf("%q: %v", chosen, err)
		}
	}
	if n := Newest(read); n != 102 {
		t.Errorf("the newest is %d", n)
	}
	facts := strings.Join(Volumes(read), "; ")
	for _, want := range []string{"main-2 doesn't answer, and its volume has revision 102", "not known whether these volumes have the same data"} {
		if !strings.Contains(facts, want) {
			t.Errorf("%s, want %q", facts, want)
		}
	}
}
