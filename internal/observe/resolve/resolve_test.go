// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

func flavours(t *testing.T) *observe.Reader {
	t.Helper()
	return &observe.Reader{Reader: observetest.ReadFile(t, observe.AddToScheme, "../testdata/flavours.yaml")}
}

// TestResolve finds clusters by every name that people may know.
func TestResolve(t *testing.T) {
	t.Parallel()
	r := flavours(t)
	for _, row := range []struct{ namespace, target, want string }{
		{"druid", "main", "Etcd druid/main"},
		{"druid", "", "Etcd druid/main"},
		{"druid", "etcd/main", "Etcd druid/main"},
		{"druid", "sts/main", "Etcd druid/main"},
		{"druid", "svc/main-client", "Etcd druid/main"},
		{"druid", "main-client", "Etcd druid/main"},
		{"druid", "main-peer", "Etcd druid/main"},
		{"druid", "pod/main-0", "Etcd druid/main"},
		{"druid", "main-0", "Etcd druid/main"},
		{"druid", "main-compactor-x", "not found: nothing shows that its pod runs a member of an etcd cluster; there is etcd/main"},
		{"druid", "etcdcluster/main", "not found; there is etcd/main"},
		{"etcd-operator", "etcdcluster/ec", "StatefulSet etcd-operator/ec"},
		{"etcd-operator", "ec", "StatefulSet etcd-operator/ec"},
		{"cozystack", "main", "EtcdCluster cozystack/main"},
		{"cozystack", "etcdcluster/main", "EtcdCluster cozystack/main"},
		{"cozystack", "main-b2c9d", "EtcdCluster cozystack/main"},
		{"cozystack", "svc/main-client", "EtcdCluster cozystack/main"},
		{"cozystack", "sts/main", "not found; there is etcdcluster/main"},
		{"improbable", "etcdcluster.etcd.improbable.io/main", "EtcdCluster improbable/main"},
		{"improbable", "main-1-zk4t9", "EtcdCluster improbable/main"},
		{"bitnami", "shop-etcd", "StatefulSet bitnami/shop-etcd"},
		{"bitnami", "shop-etcd-headless", "StatefulSet bitnami/shop-etcd"},
		{"k0smotron", "", "StatefulSet k0smotron/kmc-edge-etcd"},
		{"k0smotron", "kmc-edge", "not found: its StatefulSet has no container that is known to run etcd; there is statefulset/kmc-edge-etcd"},
		{"kube-system", "", "Pods kube-system/etcd"},
		{"kube-system", "etcd", "Pods kube-system/etcd"},
		{"kube-system", "etcd-cp-2", "Pods kube-system/etcd"},
		{"by-hand", "etcd1", "Pods by-hand/etcd0"},
		{"by-hand", "dev-5f9c-abcde", "ReplicaSet by-hand/dev-5f9c"},
		{"by-hand", "replicaset/dev-5f9c", "ReplicaSet by-hand/dev-5f9c"},
		{"by-hand", "", "ambiguous: etcd0, replicaset/dev-5f9c"},
		{"mixed", "store", "ambiguous: etcd/store, statefulset/store"},
		{"mixed", "etcd/store", "Etcd mixed/store"},
		{"mixed", "sts/store", "StatefulSet mixed/store"},
		{"mixed", "events", "StatefulSet mixed/events"},
		{"mixed", "svc/events", "StatefulSet mixed/store"},
		{"mixed", "db", "ambiguous: statefulset/store, statefulset/events"},
		{"mixed", "web", "not found: its Service selects no pod that is known to run etcd; there is etcd/store, statefulset/events, statefulset/store"},
		{"nowhere", "", "not found"},
		{"nowhere", "main", "not found"},
	} {
		t.Run(row.namespace+" "+row.target, func(t *testing.T) {
			t.Parallel()
			target, err := owner.ParseTarget(row.target)
			if err != nil {
				t.Fatal(err)
			}
			owner, err := Target(t.Context(), r, row.namespace, target)
			if got := resolved(t, owner, err); got != row.want {
				t.Errorf("%s\nwant %s", got, row.want)
			}
		})
	}
}

func resolved(t *testing.T, owner owner.Owner, err error) string {
	t.Helper()
	var missing *NotFoundError
	var ambiguous *AmbiguousError
	if err != nil {
		t.Log(err)
	}
	switch {
	case errors.As(err, &missing):
		text := "not found"
		if missing.Reason != "" {
			text += ": " + missing.Reason
		}
		if len(missing.Candidates) > 0 {
			slices.Sort(missing.Candidates)
			text += "; there is " + strings.Join(missing.Candidates, ", ")
		}
		return text
	case errors.As(err, &ambiguous):
		return "ambiguous: " + strings.Join(ambiguous.Candidates, ", ")
	case err != nil:
		t.Fatal(err)
	}
	return owner.String()
}
