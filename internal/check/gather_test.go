// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// TestCertificatesAskForSecrets holds what renews a serving certificate to be known
// also where that check runs alone.
func TestCertificatesAskForSecrets(t *testing.T) {
	t.Parallel()
	checks, err := Selection{Only: []string{"C001"}}.Checks()
	if err != nil {
		t.Fatal(err)
	}
	if checks[0].needs&needSecrets == 0 {
		t.Error("C001 alone doesn't ask for the Secrets that say what cert-manager renews")
	}
}

// TestFillOfWhatIsNotKnown has no measurement where the pods or the claims that it
// would be of can't be read.
func TestFillOfWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, f := range []*Facts{{Pods: got(healthy(1).Pods.Value, errRefused)}, {Claims: got(healthy(1).Claims.Value, errRefused)}} {
		g := gatherer{Facts: f}
		if fill, err := g.fill(t.Context()); !errors.Is(err, errRefused) {
			t.Errorf("got %v, %v", fill, err)
		}
	}
}

// TestCloser holds a lag to be one only where a second answer confirms it.
func TestCloser(t *testing.T) {
	t.Parallel()
	at := func(index, applied uint64) etcd.Member { return etcd.Member{RaftIndex: index, RaftApplied: applied} }
	silent := etcd.Member{Err: errRefused}
	for _, row := range []struct {
		name           string
		members, again []etcd.Member
		want           uint64
	}{
		{"asked at other moments", []etcd.Member{at(9000, 9000), at(5000, 5000)}, []etcd.Member{at(9100, 9100), at(9090, 9090)}, 10},
		{"lags", []etcd.Member{at(9000, 9000), at(5000, 5000)}, []etcd.Member{at(9900, 9900), at(5800, 5800)}, 4000},
		{"catches up", []etcd.Member{at(9000, 9000), at(9000, 5000)}, []etcd.Member{at(9000, 9000), at(9000, 7000)}, 2000},
		{"gone meanwhile", []etcd.Member{at(9000, 9000), at(5000, 5000)}, []etcd.Member{at(9100, 9100), silent}, 4000},
		{"one never answered", []etcd.Member{silent, at(9000, 9000), at(5000, 5000)}, []etcd.Member{silent, at(9100, 9100), at(9100, 9100)}, 0},
	} {
		closer(row.members, row.again)
		if got := gap(row.members); got != row.want {
			t.Errorf("%s: %d behind, want %d", row.name, got, row.want)
		}
	}
}
