// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// strict refuses to get what has no name, as a client of the API server does.
type strict struct{ client.Reader }

func (s strict) Get(ctx context.Context, key client.ObjectKey, obj client.Object, opts ...client.GetOption) error {
	if key.Name == "" {
		return errors.New("resource name may not be empty")
	}
	return s.Reader.Get(ctx, key, obj, opts...)
}

// TestNothingWithoutAName asks for no object that a cluster doesn't name.
func TestNothingWithoutAName(t *testing.T) {
	t.Parallel()
	r := flavours(t)
	r.Reader = strict{r.Reader}
	owners, err := r.Clusters(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range owners {
		if _, err := memberservices.OfPeers(t.Context(), r, o); err != nil {
			t.Errorf("the peer Service of %s: %v", o, err)
		}
	}
}

// TestPeersWithoutAService is of a StatefulSet that names no Service, as is allowed.
func TestPeersWithoutAService(t *testing.T) {
	t.Parallel()
	scheme := runtime.NewScheme()
	if err := observe.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	objects, err := observetest.Parse(scheme, []byte("apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {namespace: team, name: main}\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := &observe.Reader{Reader: strict{objects}}
	peer, err := memberservices.OfPeers(t.Context(), r, owner.Owner{WorkloadKind: owner.StatefulSet, Namespace: "team", Name: "main", StatefulSet: "main"})
	if err != nil || peer.Name != "" {
		t.Errorf("got %v, %v", peer, err)
	}
}

// TestUnknownMembersOfPods checks that a note shows which members of pods without a StatefulSet are not
// known, and that pods whose lists agree have none.
func TestUnknownMembersOfPods(t *testing.T) {
	t.Parallel()
	pod := func(name string, listed ...string) *corev1.Pod {
		var entries []string
		for _, other := range listed {
			entries = append(entries, other+"=http://"+other+":2380")
		}
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID(name)}}
		p.Spec.Containers = []corev1.Container{{Name: "etcd", Command: []string{"etcd", "--name=" + name, "--initial-cluster=" + strings.Join(entries, ",")}}}
		return p
	}
	for _, row := range []struct {
		what string
		pods observetest.Objects
		want string
	}{
		{"two that list each other", observetest.Objects{pod("a", "a", "b"), pod("b", "a", "b")}, ""},
		{"a list that only the pod knows", observetest.Objects{pod("a", "a", "$PEERS")}, "beside 1 known member: a part of --initial-cluster is only known in the pod"},
		{"two that list a third one, which lists itself, and one more", observetest.Objects{pod("a", "a", "b", "c"), pod("b", "a", "b", "c"), pod("c", "c"), pod("d", "c", "d")},
			"beside 2 known members: its list names pod c, which is not known to be in the same cluster"},
	} {
		r := &observe.Reader{Reader: row.pods, NoEtcds: func() bool { return true }, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}}
		owners, err := r.Clusters(t.Context())
		if err != nil || len(owners) == 0 {
			t.Fatalf("%s: %v, %v", row.what, owners, err)
		}
		f, err := r.Facts(t.Context(), owners[0])
		var notes []string
		for _, n := range f.Notes {
			if n.Reason == policy.SizeUnknown {
				notes = append(notes, n.Message)
			}
		}
		if got := strings.Join(notes, "; "); err != nil || !strings.Contains(got, row.want) || (got == "") != (row.want == "") {
			t.Errorf("%s: noted %q, %v; want %q", row.what, got, err, row.want)
		}
	}
}
