// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"slices"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// inDeployments is a cluster of which three Deployments run a member each. The pod of the first one is left.
func inDeployments(t *testing.T) *operatetest.Cluster {
	t.Helper()
	c := operatetest.NewCluster(t)
	spec := func(name string) apitest.Object {
		pod := c.Get(operatetest.Path("Pod", name))
		container := operatetest.Field(pod, "spec")["containers"].([]any)[0].(apitest.Object) //nolint:forcetypeassert // it panics in a test
		container["env"] = []any{apitest.Object{"name": "POD_NAME", "value": name}}
		return operatetest.Field(pod, "spec")
	}
	c.Remove(operatetest.Path("StatefulSet", "main"))
	for i, name := range []string{"main-0", "main-1", "main-2"} {
		replicas := 0
		if i == 0 {
			replicas = 1
		}
		c.Put("/apis/apps/v1/namespaces/team/deployments/"+name, apitest.Object{
			"apiVersion": "apps/v1", "kind": "Deployment", "metadata": apitest.Object{"namespace": "team", "name": name, "uid": "d" + name},
			"spec": apitest.Object{"replicas": replicas, "template": apitest.Object{"metadata": apitest.Object{"labels": apitest.Object{"app": name}}, "spec": spec(name)}},
		})
		if i > 0 {
			c.Remove(operatetest.Path("Pod", name))
			c.Etcd.Stop(name)
			continue
		}
		pod := c.Get(operatetest.Path("Pod", name))
		operatetest.Field(pod, "metadata")["labels"] = apitest.Object{"app": name, "pod-template-hash": "7c9f"}
		operatetest.Field(pod, "metadata")["ownerReferences"] = []any{apitest.Object{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": name + "-7c9f", "uid": "r", "controller": true}}
		operatetest.Field(pod, "spec")["containers"] = spec(name)["containers"]
		c.Put(operatetest.Path("Pod", name), pod)
	}
	c.Etcd.Leader, c.Etcd.QuorumLost = 0, true
	return c
}

// TestWorkloadsToStartAgain: the member that is left shows which Deployments had the others.
func TestWorkloadsToStartAgain(t *testing.T) {
	t.Parallel()
	c := inDeployments(t)
	const want = "kubectl scale deployment/main-1 deployment/main-2 --replicas 1 -n team"
	for _, target := range []owner.Target{{Kind: "deployment", Name: "main-0"}, {Kind: "pod", Name: "main-0"}} {
		f, err := observerOf(t, c, target).Observe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if f.LastVoters != 3 || len(f.LastList) != 3 {
			t.Errorf("%s: %d voters, list %v", target, f.LastVoters, f.LastList)
		}
		found := health.StatusFindings(f)
		if !slices.ContainsFunc(found, func(one health.Finding) bool { return one.Fix == want }) {
			t.Errorf("%s: no finding has %s: %+v", target, want, found)
		}
		if a := recovery.Diagnose(f.Recovery()).Scenarios[0].Action; f.Order(a) != want {
			t.Errorf("%s: diagnose has %s", target, f.Order(a))
		}
	}
}
