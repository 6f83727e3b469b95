// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package drain

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// world is a cluster in memory, on whose nodes a Run works. It is the Kubectl of that Run.
type world struct {
	*operatetest.Cluster

	run *Run
	// steps are what was done, in order.
	steps []string
	// fails and warnings are kubectl drain's.
	fails    []string
	warnings string
}

// quickClock is a clock on which polls wait a thousandth of their time.
type quickClock struct{ clock.RealClock }

func (c quickClock) After(d time.Duration) <-chan time.Time { return c.RealClock.After(d / 1000) }

func newWorld(t *testing.T, nodes ...string) *world {
	t.Helper()
	w := &world{Cluster: operatetest.NewCluster(t)}
	kube := w.Client(t)
	w.run = &Run{
		Job: &Job{
			Kube: kube, Reader: &observe.Reader{Reader: kube, Leases: &leaseclock.Clock{Clock: quickClock{}}, Scripts: podfiles.NewScripts()},
			Kubectl: w, Clock: quickClock{}, Namespace: "team", GracePeriod: -1,
			Logf: func(format string, args ...any) { w.step(format, args...) },
		},
		Left: nodes,
		Idle: func(context.Context, owner.Owner) error { return nil },
		Drained: func(_ context.Context, o owner.Owner, pods []string) {
			w.step("event %s %s", o.Name, strings.Join(pods, ","))
		},
	}
	return w
}

func (w *world) step(format string, args ...any) {
	w.steps = append(w.steps, fmt.Sprintf(format, args...))
}

func (w *world) Pods(ctx context.Context, node string) (pods []corev1.Pod, warnings string, fails []string, err error) {
	var all corev1.PodList
	if err := w.run.Kube.List(ctx, &all, client.MatchingFields{"spec.nodeName": node}); err != nil {
		return nil, "", nil, err
	}
	return all.Items, w.warnings, w.fails, nil
}

func (w *world) Cordon(_ context.Context, node *corev1.Node, dry bool) error {
	if dry {
		w.step("tries to cordon %s", node.Name)
		return nil
	}
	operatetest.Field(w.Get(operatetest.Path("Node", node.Name)), "spec")["unschedulable"] = true
	return nil
}

func (w *world) Evict(_ context.Context, pods []corev1.Pod) error {
	for _, p := range pods {
		w.step("kubectl evicts %s", p.Name)
		w.Remove(operatetest.Path("Pod", p.Name))
	}
	return nil
}

// addNodes gives all nodes a spec, so that they can be cordoned.
func (w *world) addNodes(cordoned ...string) {
	for i := range 5 {
		name := fmt.Sprintf("node-%d", i)
		w.Create(apitest.Object{"apiVersion": "v1", "kind": "Node", "metadata": apitest.Object{"name": name}, "spec": apitest.Object{}})
	}
	for _, name := range cordoned {
		operatetest.Field(w.Get(operatetest.Path("Node", name)), "spec")["unschedulable"] = true
	}
}

// addOther puts a pod that is no member on a node.
func (w *world) addOther(name, node string) {
	w.Create(apitest.Object{"apiVersion": "v1", "kind": "Pod", "metadata": apitest.Object{"namespace": "team", "name": name, "labels": apitest.Object{"app": name}},
		"spec":   apitest.Object{"nodeName": node, "containers": []any{apitest.Object{"name": "web", "image": "nginx"}}},
		"status": apitest.Object{"phase": "Running", "conditions": []any{apitest.Object{"type": "Ready", "status": "True"}}}})
}

// addBudget puts a budget for the pods with a label app.
func (w *world) addBudget(name, app string, allowed int) {
	w.Put("/apis/policy/v1/namespaces/team/poddisruptionbudgets/"+name, apitest.Object{
		"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": apitest.Object{"namespace": "team", "name": name, "generation": 1},
		"spec":   apitest.Object{"minAvailable": 2, "selector": apitest.Object{"matchLabels": apitest.Object{"app": app}}},
		"status": apitest.Object{"observedGeneration": 1, "disruptionsAllowed": allowed, "currentHealthy": 3, "desiredHealthy": 2, "expectedPods": 3},
	})
}
