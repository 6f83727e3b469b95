// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// newTogether returns a stage whose claims have volumes that every node can mount.
func newTogether(t *testing.T) *stage {
	t.Helper()
	c := newStage(t)
	for _, name := range []string{"main-0", "main-1", "main-2"} {
		c.Put("/api/v1/persistentvolumes/"+name, apitest.Object{"apiVersion": "v1", "kind": "PersistentVolume", "metadata": apitest.Object{"name": name}})
	}
	return c
}

// together returns what a new command for a coordinated restart works with. It holds the lock.
func (c *stage) together(t *testing.T) *Job {
	t.Helper()
	c.Left = -1
	j := c.job(t)
	c.Remove(operatetest.Path("Lease", lock.Name(j.Owner))) // of a command that is dead
	held, err := lock.Acquire(t.Context(), c.Kube, j.Owner, lock.Claim{Operation: "restart", Holder: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	j.Lock = held
	quiet := func(string, ...any) {}
	j.Traffic = &traffic.Cluster{
		Owner: j.Owner, Kube: c.Kube, Reader: j.Reader, Clock: &operatetest.HastyClock{Time: clock.RealClock{}.Now()}, Target: "statefulset/main", Holder: "ann", Logf: quiet, Warnf: quiet,
		Quiet:    func() (client.Client, error) { return c.Kube, nil },
		Require:  func(context.Context, []operate.Need) error { return nil },
		Announce: func(context.Context, policy.Reason, string) {},
	}
	return j
}

// beginTogether begins a coordinated restart with a command that dies at a write, 0 for never.
func (c *stage) beginTogether(t *testing.T, at int) error {
	t.Helper()
	j := c.together(t)
	r, _, err := j.PlanCoordinated(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if c.Left = at; at == 0 {
		c.Left = -1
	}
	if err := j.Begin(t.Context(), r, false); err != nil {
		return err
	}
	_, err = j.Run(t.Context(), r)
	return err
}

// continueTogether runs the same command again, or with --abort, which dies at a write, 0 for never.
func (c *stage) continueTogether(t *testing.T, abort bool, at int) error {
	t.Helper()
	j := c.together(t)
	j.Abort = abort
	r, err := Read(t.Context(), j.Kube, j.Owner)
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		return nil
	}
	if _, err := j.PlanResume(t.Context(), r, abort); err != nil {
		t.Error(err)
	}
	if c.Left = at; at == 0 {
		c.Left = -1
	}
	_, err = j.Run(t.Context(), r)
	return err
}

func (c *stage) uids() (uids []string) {
	for _, name := range []string{"main-0", "main-1", "main-2"} {
		uids = append(uids, fmt.Sprint(operatetest.Field(c.Get(operatetest.Path("Pod", name)), "metadata")["uid"]))
	}
	return uids
}

// asBefore requires that nothing of a restart is left.
func (c *stage) asBefore(t *testing.T, what string) {
	t.Helper()
	sts, service := c.Get(operatetest.Path("StatefulSet", "main")), c.Get(operatetest.Path("Service", "main"))
	if n := operatetest.Field(sts, "spec")["replicas"]; fmt.Sprint(n) != "3" {
		t.Errorf("%s: %v replicas", what, n)
	}
	if mark, has := operatetest.Field(sts, "metadata", "annotations")["kubectl-etcd.dev/restart"]; has {
		t.Errorf("%s: the mark is %v", what, mark)
	}
	if _, cut := operatetest.Field(service, "spec", "selector")["kubectl-etcd.dev/client-traffic"]; cut {
		t.Errorf("%s: client traffic is still cut", what)
	}
	if c.Get(operatetest.Path("ConfigMap", "kubectl-etcd-main")) != nil {
		t.Errorf("%s: the journal is still there", what)
	}
}

// TestCoordinated: a command that dies before any of its writes is completed by the same command, or
// ended by --abort. Then all members or none have other pods, and everything else is as before.
func TestCoordinated(t *testing.T) {
	t.Parallel()
	for at := 1; at <= mostWrites; at++ {
		for _, abort := range []bool{false, true} {
			what := fmt.Sprintf("dead at write %d, then abort %t", at, abort)
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				dies(t, what, at, abort)
			})
		}
	}
}

// mostWrites is more than a coordinated restart has, dry runs included.
const mostWrites = 20

// dies runs a command that dies at a write, and then another one.
func dies(t *testing.T, what string, at int, abort bool) {
	t.Helper()
	c := newTogether(t)
	before := c.uids()
	err := c.beginTogether(t, at)
	died := c.Left == 0
	if died != (err != nil) {
		t.Fatalf("dead at write %d: %t, and the command ended with %v", at, died, err)
	}
	if at == mostWrites && died || at < 10 && !died {
		t.Errorf("dead at write %d: %t", at, died)
	}
	if err := c.continueTogether(t, abort, 0); err != nil {
		t.Errorf("%s: %v", what, err)
	}
	c.asBefore(t, what)
	now := c.uids()
	stopped := before[0] != now[0]
	for i := range now {
		if (before[i] != now[i]) != stopped {
			t.Errorf("%s: pods %v, then %v", what, before, now)
		}
	}
	if begun := at > 1; !abort && stopped != begun || !died && !stopped {
		t.Errorf("%s: pods %v, then %v", what, before, now)
	}
	if len(c.evictions()) > 0 {
		t.Errorf("%s: pods were evicted", what)
	}
}

// TestCoordinatedTwice: the command that continues dies, too.
func TestCoordinatedTwice(t *testing.T) {
	t.Parallel()
	for at := 2; at < 16; at += 3 {
		for _, abort := range []bool{false, true} {
			what := fmt.Sprintf("dead at write %d, then with abort %t, then with %t", at, abort, !abort)
			t.Run(what, func(t *testing.T) {
				t.Parallel()
				c := newTogether(t)
				_ = c.beginTogether(t, at)
				_ = c.continueTogether(t, abort, 2)
				if err := c.continueTogether(t, !abort, 0); err != nil {
					t.Error(err)
				}
				c.asBefore(t, what)
			})
		}
	}
}

// TestPlanCoordinated: what the plan refuses, and what it permits without a quorum.
func TestPlanCoordinated(t *testing.T) {
	t.Parallel()
	set := func(c *stage, change func(spec apitest.Object)) {
		sts := c.Get(operatetest.Path("StatefulSet", "main"))
		change(operatetest.Field(sts, "spec"))
		c.Put(operatetest.Path("StatefulSet", "main"), sts)
	}
	for name, row := range map[string]struct {
		change     func(*stage)
		withoutCut bool
		// want is a part of the refusal, empty for a plan.
		want string
	}{
		"healthy": {change: func(*stage) {}},
		"no quorum": {change: func(c *stage) {
			c.Etcd.Stop("main-1")
			c.Etcd.Stop("main-2")
		}},
		"claims are deleted": {change: func(c *stage) {
			set(c, func(spec apitest.Object) {
				spec["persistentVolumeClaimRetentionPolicy"] = apitest.Object{"whenScaled": "Delete"}
			})
		}, want: "persistentVolumeClaimRetentionPolicy.whenScaled): set it to Retain first"},
		"one after another": {change: func(c *stage) {
			set(c, func(spec apitest.Object) { spec["podManagementPolicy"] = "OrderedReady" })
		}, want: "podManagementPolicy OrderedReady"},
		"no volume":                 {change: func(c *stage) { c.Remove("/api/v1/persistentvolumes/main-1") }, want: "volume claim data-main-1 of main-1 has no volume"},
		"no claim":                  {change: func(c *stage) { c.Remove(operatetest.Path("PersistentVolumeClaim", "data-main-1")) }, want: "volume claim data-main-1 of main-1 does not exist"},
		"node lost":                 {change: func(c *stage) { c.Remove(operatetest.Path("Node", "node-1")) }, want: "node node-1 of main-1 does not exist"},
		"node not Ready":            {change: func(c *stage) { c.setNode(notReady) }, want: "node node-1 of main-1 is not Ready"},
		"no Service":                {change: func(c *stage) { c.Remove(operatetest.Path("Service", "main")) }, want: "to restart all members without a cut, add --without-cut"},
		"no Service, without a cut": {change: func(c *stage) { c.Remove(operatetest.Path("Service", "main")) }, withoutCut: true},
		"no Secret": {change: func(c *stage) {
			set(c, func(spec apitest.Object) {
				operatetest.Field(spec, "template", "spec")["volumes"] = []any{apitest.Object{"name": "tls", "secret": apitest.Object{"secretName": "peer-tls"}}}
			})
		}, want: "Secret peer-tls does not exist"},
		"cut before": {change: func(c *stage) {
			service := c.Get(operatetest.Path("Service", "main"))
			operatetest.Field(service, "spec", "selector")["kubectl-etcd.dev/client-traffic"] = fmt.Sprintf("cut-until-%d", clock.RealClock{}.Now().Add(time.Hour).Unix())
			c.Put(operatetest.Path("Service", "main"), service)
		}, want: "client traffic is cut already"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newTogether(t)
			c.together(t) // the old pods
			row.change(c)
			j := c.together(t)
			j.WithoutCut = row.withoutCut
			r, plan, err := j.PlanCoordinated(t.Context())
			if row.want != "" {
				if refused := (*operate.RefusedError)(nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), row.want) {
					t.Errorf("the error is %v, want %q", err, row.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if cut := len(r.Together.Services) > 0; cut == row.withoutCut || plan.Title == "" || len(plan.Steps) == 0 {
				t.Errorf("services %v, plan %+v", r.Together.Services, plan)
			}
		})
	}
}

// TestCoordinatedStopsNothing: what is lost after the plan halts the restart before any member stops.
func TestCoordinatedStopsNothing(t *testing.T) {
	t.Parallel()
	c := newTogether(t)
	j := c.together(t)
	r, _, err := j.PlanCoordinated(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Begin(t.Context(), r, true); err != nil {
		t.Fatal(err)
	}
	if err := j.Begin(t.Context(), r, false); err != nil {
		t.Fatal(err)
	}
	before := c.uids()
	c.Remove(operatetest.Path("PersistentVolumeClaim", "data-main-2"))
	if _, err := j.Run(t.Context(), r); !errors.As(err, new(*operate.HaltedError)) || !strings.Contains(err.Error(), "data-main-2 of main-2 does not exist") {
		t.Errorf("the error is %v", err)
	}
	if err := c.continueTogether(t, true, 0); err != nil {
		t.Error(err)
	}
	c.asBefore(t, "aborted")
	if now := c.uids(); strings.Join(now, " ") != strings.Join(before, " ") {
		t.Errorf("pods %v, then %v", before, now)
	}
}

// TestCoordinatedReverted: a client that writes the replicas back is named, and not fought.
func TestCoordinatedReverted(t *testing.T) {
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
	j.wrote = map[int]bool{0: true}
	if _, err := j.Run(t.Context(), r); !errors.As(err, new(*operate.HaltedError)) || !strings.Contains(err.Error(), "another client has set them to 3 since: stop that client") {
		t.Errorf("the error is %v", err)
	}
	if err := c.continueTogether(t, false, 0); err != nil {
		t.Error(err)
	}
	c.asBefore(t, "continued")
}

// TestCoordinatedOtherMember: a member with other data is reported, and client traffic stays cut.
func TestCoordinatedOtherMember(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Together){
		"has cluster ID": func(t *Together) { t.ClusterID++ },
		"has member ID":  func(t *Together) { t.Members["main-1"]++ },
		"with revision":  func(t *Together) { t.Revision += 1000 },
	} {
		c := newTogether(t)
		j := c.together(t)
		r, _, err := j.PlanCoordinated(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		change(r.Together)
		if err := j.Begin(t.Context(), r, false); err != nil {
			t.Fatal(err)
		}
		if _, err := j.Run(t.Context(), r); !errors.As(err, new(*operate.HaltedError)) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the error is %v", name, err)
		}
		service := c.Get(operatetest.Path("Service", "main"))
		if _, cut := operatetest.Field(service, "spec", "selector")["kubectl-etcd.dev/client-traffic"]; !cut {
			t.Errorf("%s: client traffic is restored", name)
		}
		c.endsCut(t, name)
	}
}

// endsCut requires that --abort ends a restart with other data, leaves client traffic cut, and names the next
// commands.
func (c *stage) endsCut(t *testing.T, name string) {
	t.Helper()
	j := c.together(t)
	j.Abort = true
	r, err := Read(t.Context(), j.Kube, j.Owner)
	if err != nil || r == nil {
		t.Fatalf("%s: the journal is %v, %v", name, r, err)
	}
	if plan, err := j.PlanResume(t.Context(), r, true); err != nil || !strings.Contains(strings.Join(plan.Steps, "; "), "leave client traffic through Service main as it is") {
		t.Errorf("%s: the plan is %v, %v", name, plan.Steps, err)
	}
	notes, err := j.Run(t.Context(), r)
	text := fmt.Sprint(notes)
	if err != nil || !strings.Contains(text, name) || !strings.Contains(text, "kubectl etcd restore-client-traffic statefulset/main -n team") || !strings.Contains(text, "kubectl etcd diagnose statefulset/main -n team") {
		t.Errorf("%s: the error is %v, and the notes are %v", name, err, text)
	}
	set := c.Get(operatetest.Path("StatefulSet", "main"))
	_, marked := operatetest.Field(set, "metadata", "annotations")["kubectl-etcd.dev/restart"]
	if !c.isCut("main") || marked || c.Get(operatetest.Path("ConfigMap", "kubectl-etcd-main")) != nil {
		t.Errorf("%s: client traffic is restored, or the mark or the journal is left", name)
	}
}

// TestPatchSet: the mark and the replicas are written together, and only on the StatefulSet that was read.
func TestPatchSet(t *testing.T) {
	t.Parallel()
	c := newTogether(t)
	j := c.together(t)
	r, _, err := j.PlanCoordinated(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s, err := j.observe(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := j.patchSet(t.Context(), s, new("stopping at noon"), new(0)); err != nil {
		t.Fatal(err)
	}
	set := c.Get(operatetest.Path("StatefulSet", "main"))
	if mark := operatetest.Field(set, "metadata", "annotations")["kubectl-etcd.dev/restart"]; mark != "stopping at noon" || operatetest.Field(set, "spec")["replicas"] != 0.0 {
		t.Errorf("the mark is %v, and the replicas are %v", mark, operatetest.Field(set, "spec")["replicas"])
	}
	if err := j.patchSet(t.Context(), s, nil, new(3)); !apierrors.IsConflict(err) {
		t.Errorf("on another version: %v", err)
	}
	if got := operatetest.Field(c.Get(operatetest.Path("StatefulSet", "main")), "spec")["replicas"]; got != 0.0 {
		t.Errorf("the replicas are %v", got)
	}
}
