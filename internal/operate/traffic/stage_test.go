// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

const (
	services = "/api/v1/namespaces/team/services/"
	slicesAt = "/apis/discovery.k8s.io/v1/namespaces/team/endpointslices/"
	etcdAt   = "/apis/druid.gardener.cloud/v1alpha1/namespaces/team/etcds/main"
)

// stage is a cluster in memory with two client Services, a and b.
type stage struct {
	*apitest.Server

	cluster *Cluster
	clock   *operatetest.HastyClock
	// shown is what was reported, and events what was announced.
	shown, events []string
}

func newStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{Server: apitest.New(t), clock: &operatetest.HastyClock{Time: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}}
	for _, name := range []string{"a", "b"} {
		s.service(name, "")
	}
	kube := s.Client(t)
	s.cluster = &Cluster{
		Owner: owner.Owner{WorkloadKind: owner.StatefulSet, APIVersion: "apps/v1", Kind: "StatefulSet", Namespace: "team", Name: "main", StatefulSet: "main", UID: "u"},
		Kube:  kube, Clock: s.clock, Target: "main", Holder: "ann at desk (pid 1)",
		Quiet:   func() (client.Client, error) { return kube, nil },
		Require: func(context.Context, []operate.Need) error { return nil },
		Announce: func(_ context.Context, reason policy.Reason, what string) {
			s.events = append(s.events, reason.Name()+": "+what)
		},
		Logf:  func(format string, args ...any) { s.shown = append(s.shown, fmt.Sprintf(format, args...)) },
		Warnf: func(format string, args ...any) { s.shown = append(s.shown, "Warning: "+fmt.Sprintf(format, args...)) },
	}
	for _, name := range []string{"a", "b"} {
		var service corev1.Service
		if err := kube.Get(t.Context(), client.ObjectKey{Namespace: "team", Name: name}, &service); err != nil {
			t.Fatal(err)
		}
		s.cluster.Services.Chosen = append(s.cluster.Services.Chosen, service)
	}
	return s
}

// service keeps a Service, with the value of a cut if it has one.
func (s *stage) service(name, cut string) {
	selector := apitest.Object{"app": "etcd"}
	if cut != "" {
		selector[v1alpha1.ClientTrafficKey] = cut
	}
	s.Put(services+name, apitest.Object{
		"apiVersion": "v1", "kind": "Service", "metadata": apitest.Object{"namespace": "team", "name": name},
		"spec": apitest.Object{"selector": selector},
	})
}

// writtenBy makes a field manager the last writer of a Service's selector.
func (s *stage) writtenBy(name, manager string) {
	meta, _ := s.Get(services + name)["metadata"].(apitest.Object)
	meta["managedFields"] = []any{apitest.Object{
		"manager": manager, "operation": "Update", "apiVersion": "v1", "time": "2026-11-20T12:00:00Z",
		"fieldsType": "FieldsV1", "fieldsV1": apitest.Object{"f:spec": apitest.Object{"f:selector": apitest.Object{}}},
	}}
}

// endpoints keeps the EndpointSlice of a Service.
func (s *stage) endpoints(service string, endpoints ...any) {
	s.Put(slicesAt+service+"-1", apitest.Object{
		"metadata":  apitest.Object{"namespace": "team", "name": service + "-1", "labels": apitest.Object{"kubernetes.io/service-name": service}},
		"endpoints": endpoints,
	})
}

// druid makes the cluster one of etcd-druid, with annotations.
func (s *stage) druid(annotations apitest.Object) {
	s.cluster.WorkloadKind, s.cluster.Distribution, s.cluster.Kind = owner.DruidStatefulSet, flavour.Druid, "Etcd"
	s.Put(etcdAt, apitest.Object{
		"apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd",
		"metadata": apitest.Object{"namespace": "team", "name": "main", "uid": "u", "annotations": annotations},
	})
}

// cutOf returns the value of the cut of a Service, empty if it isn't cut.
func (s *stage) cutOf(name string) string {
	spec, _ := s.Get(services + name)["spec"].(apitest.Object)
	selector, _ := spec["selector"].(apitest.Object)
	value, _ := selector[v1alpha1.ClientTrafficKey].(string)
	return value
}

func (s *stage) suspension() any {
	meta, _ := s.Get(etcdAt)["metadata"].(apitest.Object)
	annotations, _ := meta["annotations"].(apitest.Object)
	return annotations[SuspendAnnotation]
}

// refuse lets the API server refuse writes of a path.
func (s *stage) refuse(code int, paths ...string) {
	s.Refuse = func(method, path string) int {
		if method != http.MethodGet && slices.Contains(paths, path) {
			return code
		}
		return 0
	}
}

// lock takes the cluster's lock until the test ends.
func (s *stage) lock(t *testing.T) *lock.Lock {
	t.Helper()
	held, err := lock.Acquire(t.Context(), s.cluster.Kube, s.cluster.Owner, lock.Claim{Operation: CutOperation, Holder: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Release(context.WithoutCancel(t.Context())) })
	return held
}

// wantShown compares what was reported.
func (s *stage) wantShown(t *testing.T, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, s.shown); diff != "" {
		t.Errorf("reported (-want +got):\n%s", diff)
	}
}

// hasShown reports whether a report begins with a text.
func (s *stage) hasShown(text string) bool {
	return slices.ContainsFunc(s.shown, func(line string) bool { return strings.HasPrefix(line, text) }) || text == ""
}

// lateClock calls a function at the first wait.
type lateClock struct {
	*operatetest.HastyClock

	then func()
}

func (c *lateClock) After(d time.Duration) <-chan time.Time {
	passed := c.HastyClock.After(d)
	if then := c.then; then != nil {
		c.then = nil
		then()
	}
	return passed
}
