// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestRestartRequest requests restarts by the annotation, while a member is frozen. It is the first, one member
// restarts at a time, and a quorum is Ready throughout. A second request for one pod restarts that pod only. A write
// of the whole StatefulSet, which etcd-druid's reconciliation is, begins none of them again.
func TestRestartRequest(t *testing.T) {
	for name, flavour := range map[string]clusters.Flavour{"plain": clusters.Plain, "druid": clusters.Druid} {
		t.Run(name, func(t *testing.T) {
			operating(t, 3)
			ns, _ := governed(t, nil)
			spec := clusters.Spec{Flavour: flavour, Size: 3}
			if flavour == clusters.Plain {
				spec.Mutate = probed
			}
			c := start(t, ns, "main", spec)
			all := members(t, c)
			freeze(t, all[1].Pod.UID)
			awaitUnready(t, all[1].Pod.Name, c)
			quorumStays(t, c, 2)
			requestRestart(t, c, flavour, "rolling for the test")
			if order := awaitRestarts(t, c, all); order[0] != 1 {
				t.Errorf("the members restarted in the order %v, want the frozen one first", order)
			}
			awaitEvent(t, c, `the request "rolling for the test" is done`)
			works(t, c)
			all = members(t, c)
			overwrite(t, c, flavour)
			record := ";rolling for the test"
			if flavour == clusters.Plain { // the write of a user withdraws the request
				record = ""
			}
			staysRestarted(t, c, all, record)
			requestRestart(t, c, flavour, all[2].Pod.Name)
			eventually(t, "the record of a request that is done", func(context.Context) (string, bool, error) {
				record := statefulSet(t, c).Annotations[v1alpha1.RestartedPodsAnnotation]
				return record, record == ";"+all[2].Pod.Name, nil
			})
			if other := otherPods(t, c, all); !slices.Equal(other, []string{all[2].Pod.Name}) {
				t.Errorf("%q restarted, want only %s", other, all[2].Pod.Name)
			}
			works(t, c)
		})
	}
}

// overwrite writes the StatefulSet without annotations, as etcd-druid does in each reconciliation, and as kubectl
// replace does.
func overwrite(t *testing.T, c *clusters.Cluster, flavour clusters.Flavour) {
	t.Helper()
	if flavour == clusters.Druid {
		if err := c.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
		return
	}
	sts := statefulSet(t, c)
	sts.Annotations, sts.ResourceVersion = nil, "" // whichever version there is
	if err := kube.Update(t.Context(), sts); err != nil {
		t.Fatal(err)
	}
}

// staysRestarted checks for a while that the record of a request remains, and that no pod restarts.
func staysRestarted(t *testing.T, c *clusters.Cluster, all []clusters.Member, record string) {
	t.Helper()
	for range 10 {
		time.Sleep(2 * time.Second)
		if got := statefulSet(t, c).Annotations[v1alpha1.RestartedPodsAnnotation]; got != record {
			t.Fatalf("the record is %q, want %q", got, record)
		}
		if other := otherPods(t, c, all); len(other) > 0 {
			t.Fatalf("%q restarted again", other)
		}
	}
}

// requestRestart sets the annotation on the owner of a cluster.
func requestRestart(t *testing.T, c *clusters.Cluster, flavour clusters.Flavour, text string) {
	t.Helper()
	var of client.Object = statefulSet(t, c)
	if flavour == clusters.Druid {
		etcd, err := c.Etcd(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		of = etcd
	}
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%q}}}`, v1alpha1.RestartRequestAnnotation, text)
	if err := kube.Patch(t.Context(), of, client.RawPatch(types.MergePatchType, patch)); err != nil {
		t.Fatal(err)
	}
}
