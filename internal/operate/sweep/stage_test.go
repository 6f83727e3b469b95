// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// stage is a healthy cluster of three members, and a Sweeper.
type stage struct {
	*operatetest.Cluster
	*Sweeper

	webhook *fakeWebhook
	// list is etcd's member list, and members those that answer. surveys counts how often they were asked.
	list    []etcd.Listed
	members []etcd.Member
	listErr error
	surveys int
	logged  []string
	removed []string
}

// fakeWebhook is an etcd-webhook with what it left, as given.
type fakeWebhook struct {
	installed bool
	err       error
	budgets   []policyv1.PodDisruptionBudget
	rollouts  []appsv1.StatefulSet
	restored  []string
	// sizes are the warnings about each budget.
	sizes map[string][]string
}

func (w *fakeWebhook) Installed(context.Context) (bool, error) { return w.installed, w.err }

func (w *fakeWebhook) Budgets(context.Context, string) ([]policyv1.PodDisruptionBudget, error) {
	return w.budgets, nil
}

func (w *fakeWebhook) Rollouts(context.Context, string) ([]appsv1.StatefulSet, error) {
	return w.rollouts, nil
}

func (w *fakeWebhook) SizeWarnings(_ context.Context, budget *policyv1.PodDisruptionBudget) []string {
	return w.sizes[budget.Name]
}

func (w *fakeWebhook) RestoreBudget(_ context.Context, budget *policyv1.PodDisruptionBudget, dry bool) error {
	w.restored = append(w.restored, fmt.Sprintf("budget %s, dry %t", budget.Name, dry))
	return nil
}

func (w *fakeWebhook) RestoreRollout(_ context.Context, sts *appsv1.StatefulSet, dry bool) error {
	w.restored = append(w.restored, fmt.Sprintf("rollout %s, dry %t", sts.Name, dry))
	return nil
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Cluster: operatetest.NewCluster(t), webhook: &fakeWebhook{}}
	for i := range 3 {
		pod := fmt.Sprintf("main-%d", i)
		s.list = append(s.list, etcd.Listed{ID: uint64(i + 1), Name: pod, Pod: pod})
	}
	kube := s.Client(t)
	s.Sweeper = &Sweeper{
		Kube: kube, Clock: clock.RealClock{}, Webhook: s.webhook, Flags: " --context dev", Login: " --etcd-user root",
		Reader: &observe.Reader{Reader: kube, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}},
		Logf:   func(format string, args ...any) { s.logged = append(s.logged, fmt.Sprintf(format, args...)) },
		Survey: func(context.Context, owner.Owner) (etcd.Survey, error) {
			s.surveys++
			return etcd.Survey{List: s.list, Members: s.members, ListErr: s.listErr}, nil
		},
		Removed: func(_ context.Context, i *Item) { s.removed = append(s.removed, i.Object()) },
	}
	return s
}

// left returns all items that are not in use, one line each.
func (s *stage) left(t *testing.T, scope Scope) string {
	t.Helper()
	state, err := s.Observe(t.Context(), scope)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, i := range state.Left() {
		lines = append(lines, strings.Join(append([]string{fmt.Sprint(i.Facts.Kind), i.Object(), fmt.Sprint(i.Result.Action), i.Result.Reason.Name()}, i.Ways...), " | "))
	}
	for _, u := range state.Unseen {
		lines = append(lines, "unseen | "+u.What)
	}
	return strings.Join(lines, "\n")
}

func (s *stage) object(kind, version, name string, fields apitest.Object) {
	o := apitest.Object{"apiVersion": version, "kind": kind, "metadata": apitest.Object{"namespace": "team", "name": name, "uid": name + "-uid", "creationTimestamp": "2026-01-01T00:00:00Z"}}
	for key, value := range fields {
		if key == "metadata" {
			maps.Copy(o["metadata"].(apitest.Object), value.(apitest.Object)) //nolint:forcetypeassert // both are written here
			continue
		}
		o[key] = value
	}
	s.Create(o)
}

// helper puts a pod with the label of a helper pod, empty for none.
func (s *stage) helper(name, of string) {
	labels := apitest.Object{}
	if of != "" {
		labels[v1alpha1.RestoreOfLabel] = of
	}
	s.object("Pod", "v1", name, apitest.Object{"metadata": apitest.Object{"labels": labels}})
}

// scaleToZero has a cluster's object ask for no members.
func (s *stage) scaleToZero(kind string) {
	operatetest.Field(s.Get(operatetest.Path(kind, "main")), "spec")["replicas"] = 0
}

// journal puts the journal of a StatefulSet.
func (s *stage) journal(statefulSet, text string) {
	s.object("ConfigMap", "v1", "kubectl-etcd-"+statefulSet, apitest.Object{
		"metadata": apitest.Object{"labels": apitest.Object{"app.kubernetes.io/managed-by": "kubectl-etcd"}}, "data": apitest.Object{"journal.json": text},
	})
}

// lock puts a lock, which holder has renewed some time ago. It is released for an empty holder.
func (s *stage) lock(name, holder string, ago time.Duration) {
	spec := apitest.Object{"leaseDurationSeconds": 15, "renewTime": time.Now().Add(-ago).UTC().Format("2006-01-02T15:04:05.000000Z")}
	if holder != "" {
		spec["holderIdentity"] = holder
	}
	s.object("Lease", "coordination.k8s.io/v1", name, apitest.Object{"spec": spec})
}

// cut puts a Service whose client traffic is cut.
func (s *stage) cut(name, app, value string) {
	s.object("Service", "v1", name, apitest.Object{"spec": apitest.Object{
		"clusterIP": "10.0.0.9", "selector": apitest.Object{"app": app, "kubectl-etcd.dev/client-traffic": value}, "ports": []any{apitest.Object{"port": 2379, "targetPort": 2379}},
	}})
}

func (s *stage) claim(name string) { s.object("PersistentVolumeClaim", "v1", name, apitest.Object{}) }

// druid has an Etcd control the StatefulSet, with the leases of members.
func (s *stage) druid(members ...string) {
	s.object("Etcd", "druid.gardener.cloud/v1alpha1", "main", apitest.Object{"spec": apitest.Object{"replicas": 3}})
	operatetest.Field(s.Get(operatetest.Path("StatefulSet", "main")), "metadata")["ownerReferences"] = []any{apitest.Object{
		"apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd", "name": "main", "uid": "main-uid", "controller": true,
	}}
	for _, name := range members {
		s.memberLease(name, "main")
	}
}

func (s *stage) memberLease(name, etcd string) {
	s.object("Lease", "coordination.k8s.io/v1", name, apitest.Object{"metadata": apitest.Object{"labels": apitest.Object{
		"app.kubernetes.io/part-of": etcd, "app.kubernetes.io/component": "etcd-member-lease",
	}}})
}

// suspend has a cut have suspended etcd-druid.
func (s *stage) suspend() {
	operatetest.Field(s.Get(operatetest.Path("Etcd", "main")), "metadata")["annotations"] = apitest.Object{
		"druid.gardener.cloud/suspend-etcd-spec-reconcile": "kubectl-etcd.dev/client-traffic",
	}
}

// forbid has the API server refuse to list or get a resource.
func (s *stage) forbid(resource string) {
	s.Refuse = func(method, path string) int {
		if method == http.MethodGet && strings.Contains(path, "/"+resource) {
			return http.StatusForbidden
		}
		return 0
	}
}

var errTest = errors.New("it does not answer")
