// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// addService adds a second Service that leads clients to the members.
func (c *stage) addService() {
	c.Put(operatetest.Path("Service", "second"), apitest.Object{
		"apiVersion": "v1", "kind": "Service", "metadata": apitest.Object{"namespace": "team", "name": "second"},
		"spec": apitest.Object{"selector": apitest.Object{"app": "main"}, "clusterIP": "10.0.0.2", "ports": []any{apitest.Object{"port": 2379.0, "targetPort": 2379.0}}},
	})
}

func (c *stage) isCut(name string) bool {
	_, cut := operatetest.Field(c.Get(operatetest.Path("Service", name)), "spec", "selector")["kubectl-etcd.dev/client-traffic"]
	return cut
}

// TestCoordinatedServices: a Service that was created after the plan is not cut, because nothing would
// restore it.
func TestCoordinatedServices(t *testing.T) {
	t.Parallel()
	c := newTogether(t)
	j := c.together(t)
	r, _, err := j.PlanCoordinated(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Begin(t.Context(), r, false); err != nil {
		t.Fatal(err)
	}
	c.addService()
	if err := j.cut(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if !c.isCut("main") || c.isCut("second") {
		t.Errorf("main is cut: %t, second: %t", c.isCut("main"), c.isCut("second"))
	}
	if _, err := j.Run(t.Context(), r); err != nil {
		t.Error(err)
	}
	c.asBefore(t, "restarted")
	if c.isCut("second") {
		t.Error("second is still cut")
	}
}

// TestCoordinatedHalfCut: one cut Service of two is not enough to go on, and is restored by --abort.
func TestCoordinatedHalfCut(t *testing.T) {
	t.Parallel()
	for _, abort := range []bool{false, true} {
		c := newTogether(t)
		c.addService()
		j := c.together(t)
		r, _, err := j.PlanCoordinated(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Begin(t.Context(), r, false); err != nil {
			t.Fatal(err)
		}
		s, err := j.observe(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.mark(t.Context(), s, mark{rules.Scheduled, 3}); err != nil {
			t.Fatal(err)
		}
		service := c.Get(operatetest.Path("Service", "second"))
		operatetest.Field(service, "spec", "selector")["kubectl-etcd.dev/client-traffic"] = observe.CutValue(j.Traffic.Clock.Now().Add(cutLength))
		c.Put(operatetest.Path("Service", "second"), service)
		if s, err = j.observe(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		j.Abort = abort
		if _, err := j.stepCoordinated(t.Context(), s, r); err != nil {
			t.Fatal(err)
		}
		if main, second := c.isCut("main"), c.isCut("second"); main == abort || second == abort {
			t.Errorf("abort %t: main is cut: %t, second: %t", abort, main, second)
		}
	}
}

// TestCoordinatedServiceGone: a Service that was deleted is no obstacle, and one that leads elsewhere is.
func TestCoordinatedServiceGone(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{true, false} {
		c := newTogether(t)
		c.addService()
		j := c.together(t)
		r, _, err := j.PlanCoordinated(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Begin(t.Context(), r, false); err != nil {
			t.Fatal(err)
		}
		c.Remove(operatetest.Path("Service", "second"))
		want := ""
		if !gone {
			c.addService()
			second := c.Get(operatetest.Path("Service", "second"))
			operatetest.Field(second, "spec")["selector"] = apitest.Object{"app": "other"}
			c.Put(operatetest.Path("Service", "second"), second)
			want = "Service second doesn't lead clients to the members any more"
		}
		if _, err := j.Run(t.Context(), r); (err != nil) == gone || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("gone %t: the error is %v", gone, err)
		}
		if err := c.continueTogether(t, true, 0); err != nil {
			t.Error(err)
		}
		c.asBefore(t, "aborted")
	}
}
