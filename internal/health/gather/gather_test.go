// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
)

// TestCertificatesNeedSecrets checks that the Secrets that show what cert-manager renews
// are read for C001 alone, and for status, where a serving certificate expires soon.
func TestCertificatesNeedSecrets(t *testing.T) {
	t.Parallel()
	alone, err := health.Selection{Only: []string{"C001"}}.Checks()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for name, checks := range map[string][]health.Check{"C001": alone, "status": health.StatusChecks()} {
		for left, want := range map[time.Duration]bool{20 * 24 * time.Hour: true, 40 * 24 * time.Hour: false} {
			g := gatherer{Facts: &health.Facts{At: now}, need: health.Needs(checks)}
			g.Survey.Value.Members = []etcd.Member{{}, {CertificateExpiry: now.Add(left)}}
			if got := g.needs(health.NeedSecrets) || g.needs(health.NeedRenewal) && g.expiresSoon(); got != want {
				t.Errorf("%s with %s left: the Secrets are read: %t, want %t", name, left, got, want)
			}
		}
	}
}

var errRefused = errors.New("connection refused")

// TestFillOfWhatIsNotKnown has no measurement where the pods or the claims that it
// would be of can't be read.
func TestFillOfWhatIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, f := range []*health.Facts{{Pods: got([]*corev1.Pod{{}}, errRefused)}, {Claims: got([]corev1.PersistentVolumeClaim{}, errRefused)}} {
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

// TestSilent: the log of a member counts only if the leader doesn't receive messages from it.
func TestSilent(t *testing.T) {
	t.Parallel()
	g := gatherer{Facts: &health.Facts{Barred: map[string]bool{"main-1": true}}}
	g.Silences = map[uint64]membership.Silence{3: {Contact: membership.ContactActive}, 4: {Contact: membership.ContactNone}}
	for i, err := range []error{nil, errRefused, errRefused, errRefused} {
		pod := fmt.Sprintf("main-%d", i)
		g.Survey.Value.Members = append(g.Survey.Value.Members, etcd.Member{Pod: pod, Err: err})
		g.Survey.Value.List = append(g.Survey.Value.List, etcd.Listed{ID: uint64(i + 1), Pod: pod})
	}
	if got := g.silent(); !slices.Equal(got, []string{"main-3"}) {
		t.Errorf("the logs of %q are read, want main-3's", got)
	}
}
