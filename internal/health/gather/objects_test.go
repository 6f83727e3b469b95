// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// readerOf returns a Reader of claims in namespace team.
func readerOf(t *testing.T, claims ...string) *observe.Reader {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := observe.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, name := range claims {
		text.WriteString("---\napiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {namespace: team, name: " + name + "}\n")
	}
	objects, err := observetest.Parse(scheme, []byte(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	return &observe.Reader{Reader: objects, Leases: &leaseclock.Clock{Clock: testclock.NewFakePassiveClock(time.Time{})}}
}

// TestClaims: each member has the claims of its own StatefulSet's templates.
func TestClaims(t *testing.T) {
	t.Parallel()
	data := []owner.Claim{{Template: "data"}}
	set := func(name string) owner.Workload {
		return owner.Workload{Name: "etcd-" + name, Replicas: 1, Claims: []owner.Claim{{Template: "data-" + name}}}
	}
	for name, row := range map[string]struct {
		owner owner.Owner
		there []string
		want  []string
	}{
		"one StatefulSet": {
			owner.Owner{Namespace: "team", StatefulSet: "main", Replicas: 2, Claims: data},
			[]string{"data-main-0", "data-main-1", "data-other-0"}, []string{"data-main-0", "data-main-1"},
		},
		"several, with other names": {
			owner.Owner{Namespace: "team", StatefulSet: "etcd-a", Replicas: 3, Claims: set("a").Claims, Workloads: []owner.Workload{set("a"), set("b"), set("c")}},
			[]string{"data-a-etcd-a-0", "data-b-etcd-b-0", "data-c-etcd-c-0"}, []string{"data-a-etcd-a-0", "data-b-etcd-b-0", "data-c-etcd-c-0"},
		},
	} {
		g := gatherer{Source: Source{Reader: readerOf(t, row.there...)}, Facts: &health.Facts{Owner: row.owner}}
		claims, err := g.claims(t.Context())
		var got []string
		for _, c := range claims {
			got = append(got, c.Name)
		}
		if slices.Sort(got); err != nil || !slices.Equal(got, row.want) {
			t.Errorf("%s: claims %q, %v; want %q", name, got, err, row.want)
		}
	}
}

// TestEtcdUnread: an Etcd that can't be read has no value: an empty one asks for 0 members.
func TestEtcdUnread(t *testing.T) {
	t.Parallel()
	g := gatherer{Source: Source{Reader: readerOf(t)}, Facts: &health.Facts{Owner: owner.Owner{WorkloadKind: owner.DruidStatefulSet, Namespace: "team", Name: "main"}}}
	if e, err := g.etcd(t.Context()); e != nil || err == nil {
		t.Errorf("an Etcd that isn't there is read as %v, %v", e, err)
	}
}
