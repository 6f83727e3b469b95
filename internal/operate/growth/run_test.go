// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package growth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestRun: all volumes grow, one at a time, and members restart only for a driver that needs it. A command that
// dies before any of its writes is completed by the same command.
func TestRun(t *testing.T) {
	t.Parallel()
	for driver, most := range map[string]int{"online": 3, "offline": 6} {
		for at := 1; at <= most+1; at++ {
			t.Run(fmt.Sprintf("%s, dead at write %d", driver, at), func(t *testing.T) {
				t.Parallel()
				c := newStage(t, driver)
				first := c.job(t, "20Gi")
				if plan, err := first.Judge(t.Context()); err != nil || plan.Title == "" || len(plan.Steps) != 3 {
					t.Fatalf("%+v, %v", plan, err)
				}
				c.left = at
				_, err := first.Run(t.Context())
				if died := c.left == 0; died != (err != nil) || died != (at <= most) {
					t.Fatalf("dead: %t, %v", died, err)
				}
				c.left = -1
				again := c.job(t, "20Gi")
				plan, err := again.Judge(t.Context())
				if err != nil || (plan.Already != "") != (at > most) {
					t.Fatalf("%+v, %v", plan, err)
				}
				if _, err := again.Run(t.Context()); err != nil {
					t.Fatal(err)
				}
				if got := c.sizes(); got != "20Gi 20Gi 20Gi" || c.most > 1 {
					t.Errorf("%s; %d at once", got, c.most)
				}
				order := map[string]string{
					"online":  "PATCH data-main-2, PATCH data-main-1, PATCH data-main-0",
					"offline": "PATCH data-main-2, POST main-2/eviction, PATCH data-main-1, POST main-1/eviction, PATCH data-main-0, POST main-0/eviction",
				}[driver]
				if got := c.writes(); got != order {
					t.Errorf("it wrote %s", got)
				}
			})
		}
	}
}

// TestRunBeside: pods that became new before their claims grew are restarted for these, and a claim that another
// client writes at the same time is read again.
func TestRunBeside(t *testing.T) {
	t.Parallel()
	c := newStage(t, "offline")
	c.code = http.StatusConflict
	j := c.job(t, "20Gi")
	j.since = map[string]types.UID{"main-0": "old", "main-1": "old", "main-2": "old"}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	r, err := j.Run(ctx)
	if err != nil || len(r.Restarted) != 3 || c.sizes() != "20Gi 20Gi 20Gi" {
		t.Errorf("%+v, %v, %s", r, err, c.sizes())
	}
}

// TestResult: the result has what was done, the template that stays small, and the quota.
func TestResult(t *testing.T) {
	t.Parallel()
	c := newStage(t, "offline")
	template := func(size string) {
		c.set(operatetest.Path("StatefulSet", "main"), func(o apitest.Object) {
			operatetest.Field(o, "spec")["volumeClaimTemplates"] = []any{apitest.Object{
				"metadata": apitest.Object{"name": "data"}, "spec": apitest.Object{"resources": apitest.Object{"requests": apitest.Object{"storage": size}}},
			}}
		})
	}
	template("10Gi")
	c.set(operatetest.Path("StatefulSet", "main"), func(o apitest.Object) {
		operatetest.Field(o, "metadata")["annotations"] = apitest.Object{"kubectl-etcd.dev/backup-lease": "etcd-backup-main", "note": "other"}
	})
	r, err := c.job(t, "20Gi").Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, want := range []string{
		"the claim template data of StatefulSet main requests 10Gi", "kubectl etcd volume grow statefulset/main --size 20Gi -n team",
		"kubectl delete statefulset main -n team --cascade=orphan", "--quota-backend-bytes",
		"the manifest has these annotations of the StatefulSet: kubectl-etcd.dev/backup-lease.", "kubectl etcd snapshot schedule statefulset/main --to URL -n team",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q: %s", want, notes)
		}
	}
	if got := fmt.Sprint(r.Grown, r.Restarted); got != "[main-0 main-1 main-2] [main-0 main-1 main-2]" {
		t.Error(got)
	}
	template("20Gi")
	if r, err = c.job(t, "20Gi").Run(t.Context()); err != nil || strings.Contains(strings.Join(r.Notes, ""), "template") {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestJudge: each state that is refused, with its way.
func TestJudge(t *testing.T) {
	t.Parallel()
	status := func(change func(status apitest.Object)) func(*stage) {
		return func(c *stage) {
			c.set(claimPath(1), func(o apitest.Object) { change(operatetest.Field(o, "status")) })
		}
	}
	volume := func(v apitest.Object) func(*stage) {
		return func(c *stage) {
			c.set(operatetest.Path("Pod", "main-1"), func(o apitest.Object) {
				v["name"] = "data"
				operatetest.Field(o, "spec")["volumes"] = []any{v}
			})
		}
	}
	for name, row := range map[string]struct {
		change func(*stage)
		size   string
		// want is a part of the refusal, empty for a plan. already is true if there is nothing to do.
		want    string
		already bool
	}{
		"plan":             {},
		"smaller":          {size: "5Gi", want: "requests 10.0 GiB already"},
		"the same":         {size: "10Gi", already: true},
		"one has more":     {change: func(c *stage) { c.claim(1, "30Gi", "30Gi") }, want: "volume claim data-main-1 of main-1 requests 30.0 GiB already"},
		"one has the size": {change: func(c *stage) { c.claim(1, "20Gi", "20Gi") }},
		"one grows":        {change: func(c *stage) { c.driver = "never"; c.claim(1, "20Gi", "10Gi") }},
		"no expansion":     {change: func(c *stage) { c.set(class, func(o apitest.Object) { delete(o, "allowVolumeExpansion") }) }, want: "set allowVolumeExpansion: true in the StorageClass. Otherwise create a cluster with larger volumes, and restore a snapshot into it: kubectl etcd snapshot save statefulset/main -n team FILE"},
		"no class":         {change: func(c *stage) { c.Remove(class) }, want: "StorageClass fast of volume claim data-main-0 does not have allowVolumeExpansion: true"},
		"static volume": {change: func(c *stage) {
			c.set(claimPath(1), func(o apitest.Object) { delete(operatetest.Field(o, "spec"), "storageClassName") })
		}, want: "has no storage class"},
		"no claim":  {change: func(c *stage) { c.Remove(claimPath(1)) }, want: "it does not exist"},
		"not bound": {change: status(func(s apitest.Object) { s["phase"] = "Lost" }), want: "it is not bound to a volume"},
		"leaves": {change: func(c *stage) {
			c.set(claimPath(1), func(o apitest.Object) { operatetest.Field(o, "metadata")["deletionTimestamp"] = "2026-01-01T00:00:00Z" })
		}, want: "it is being deleted"},
		"emptyDir":          {change: volume(apitest.Object{"emptyDir": apitest.Object{}}), want: "in emptyDir data"},
		"hostPath":          {change: volume(apitest.Object{"hostPath": apitest.Object{"path": "/var/etcd"}}), want: "in hostPath /var/etcd"},
		"no volume":         {change: func(c *stage) { volume(apitest.Object{})(c); c.set(operatetest.Path("Pod", "main-1"), unmounted) }, want: "in the container's own file system"},
		"a member is down":  {change: func(c *stage) { c.Etcd.Stop("main-1") }},
		"grown, one down":   {change: func(c *stage) { c.claim(1, "20Gi", "20Gi"); c.Etcd.Stop("main-1") }},
		"a pod is missing":  {change: missing, want: "2 of 3 members have a pod"},
		"missing, begun":    {change: func(c *stage) { c.claim(0, "20Gi", "20Gi"); missing(c) }},
		"missing, the rest": {change: func(c *stage) { c.claim(0, "20Gi", "20Gi"); c.claim(2, "20Gi", "20Gi"); missing(c) }},
		"all down":          {change: func(c *stage) { c.Etcd.Stop("main-0"); c.Etcd.Stop("main-1"); c.Etcd.Stop("main-2") }},
		"a failed resize":   {change: func(c *stage) { c.driver = "fails"; c.claim(1, "20Gi", "10Gi") }, want: "volume claim data-main-1 of main-1 did not grow: ControllerResizeError: no disk"},
		"etcd-druid":        {change: druid, want: "spec.storageCapacity of an Etcd is only for new volumes"},
		"an operator":       {change: owned("example.com/v1", "Database"), want: "it is not known how Database/main grows volumes"},
		"infeasible, event": {change: func(c *stage) { c.driver = "never"; infeasible(c) }, want: "did not grow: VolumeResizeFailed: the disk is too large"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newStage(t, "online")
			if row.change != nil {
				row.change(c)
			}
			if row.size == "" {
				row.size = "20Gi"
			}
			plan, err := c.job(t, row.size).Judge(t.Context())
			switch {
			case row.want != "":
				if !errors.As(err, new(*operate.RefusedError)) || !strings.Contains(err.Error(), row.want) {
					t.Errorf("the error is %v, want %q", err, row.want)
				}
			case err != nil, (plan.Already != "") != row.already, plan.Title != "" == row.already:
				t.Errorf("%+v, %v", plan, err)
			}
			if w := c.writes(); w != "" {
				t.Errorf("it wrote %s", w)
			}
		})
	}
}

func missing(c *stage) {
	c.idle = true
	c.Remove(operatetest.Path("Pod", "main-1"))
	c.Etcd.Stop("main-1")
}

func unmounted(o apitest.Object) {
	containers, _ := operatetest.Field(o, "spec")["containers"].([]any)
	container, _ := containers[0].(apitest.Object)
	delete(container, "volumeMounts")
}

func owned(version, kind string) func(*stage) {
	return func(c *stage) {
		c.set(operatetest.Path("StatefulSet", "main"), func(o apitest.Object) {
			operatetest.Field(o, "metadata")["ownerReferences"] = []any{apitest.Object{"apiVersion": version, "kind": kind, "name": "main", "uid": "owner", "controller": true}}
		})
	}
}

func druid(c *stage) {
	c.Create(apitest.Object{"apiVersion": "druid.gardener.cloud/v1alpha1", "kind": "Etcd", "metadata": apitest.Object{"namespace": "team", "name": "main", "uid": "owner"}, "spec": apitest.Object{"replicas": 3}})
	owned("druid.gardener.cloud/v1alpha1", "Etcd")(c)
}

func infeasible(c *stage) {
	c.claim(1, "20Gi", "10Gi")
	c.set(claimPath(1), func(o apitest.Object) {
		operatetest.Field(o, "status")["allocatedResourceStatuses"] = apitest.Object{"storage": "ControllerResizeInfeasible"}
	})
	for i, kind := range []string{"PersistentVolumeClaim", "Pod"} {
		name := fmt.Sprintf("data-main-1.%d", i)
		c.Put("/api/v1/namespaces/team/events/"+name, apitest.Object{
			"apiVersion": "v1", "kind": "Event", "metadata": apitest.Object{"namespace": "team", "name": name}, "type": "Warning", "reason": "VolumeResizeFailed",
			"message": map[string]string{"Pod": "another"}[kind] + "the disk is too large", "involvedObject": apitest.Object{"kind": kind, "name": "data-main-1", "namespace": "team"},
			"lastTimestamp": fmt.Sprintf("2026-01-01T00:00:0%dZ", i),
		})
	}
}

// TestStops: a driver that reports an error ends the command, and no other claim is changed.
func TestStops(t *testing.T) {
	t.Parallel()
	c := newStage(t, "fails")
	_, err := c.job(t, "20Gi").Run(t.Context())
	if !errors.As(err, new(*operate.HaltedError)) || !strings.Contains(err.Error(), "no disk") {
		t.Error(err)
	}
	if w := c.writes(); w != "PATCH data-main-2" {
		t.Errorf("it wrote %s", w)
	}
}

// TestWaits: a driver that does nothing is awaited until the time is over.
func TestWaits(t *testing.T) {
	t.Parallel()
	c := newStage(t, "never")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := c.job(t, "20Gi").Run(ctx); err == nil || !strings.Contains(err.Error(), "the volume of main-2 grows: it has 10.0 GiB") {
		t.Error(err)
	}
	if w := c.writes(); w != "PATCH data-main-2" {
		t.Errorf("it wrote %s", w)
	}
}

// TestRequest: only the claim that was read is written, a dry run writes nothing, and what the API server
// refuses is passed on.
func TestRequest(t *testing.T) {
	t.Parallel()
	c := newStage(t, "never")
	j := c.job(t, "20Gi")
	request := func() string {
		return fmt.Sprint(operatetest.Field(c.Get(claimPath(2)), "spec", "resources", "requests")["storage"])
	}
	if err := j.DryRun(t.Context()); err != nil || request() != "10Gi" {
		t.Errorf("%v, %s", err, request())
	}
	read := func() *corev1.PersistentVolumeClaim {
		s, err := j.observe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.claims["main-2"]
	}
	old := read()
	c.set(claimPath(2), func(o apitest.Object) { operatetest.Field(o, "metadata")["labels"] = apitest.Object{"new": "yes"} })
	if err := j.request(t.Context(), old, false); !apierrors.IsConflict(err) || request() != "10Gi" {
		t.Errorf("%v, %s", err, request())
	}
	c.code = http.StatusForbidden
	if err := j.request(t.Context(), read(), false); !operate.Permanent(err) || !strings.Contains(err.Error(), "refused by the test") {
		t.Error(err)
	}
	c.code = 0
	if err := j.request(t.Context(), read(), false); err != nil || request() != "20Gi" {
		t.Errorf("%v, %s", err, request())
	}
}

// TestGrowHeld: without the lock, no claim is written.
func TestGrowHeld(t *testing.T) {
	t.Parallel()
	c := newStage(t, "online")
	j := c.job(t, "20Gi")
	lost := errors.New("the lock is lost")
	j.StillHeld = func() error { return operate.Halt("%v", lost) }
	if _, err := j.Run(t.Context()); err == nil || !strings.Contains(err.Error(), lost.Error()) || c.writes() != "" {
		t.Errorf("%v, %s", err, c.writes())
	}
}

// TestNeedsRestart: a file system that waits is given a minute, and the time that the node works on it.
func TestNeedsRestart(t *testing.T) {
	t.Parallel()
	c := newStage(t, "never")
	j := c.job(t, "20Gi")
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "data-main-0"}}
	claim.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{Type: corev1.PersistentVolumeClaimFileSystemResizePending, Status: corev1.ConditionTrue}}
	pod := types.UID("old")
	after := func(d time.Duration) bool {
		<-j.Clock.After(d)
		return j.needsRestart(claim, pod)
	}
	if after(0) || after(onlineLimit-time.Second) || !after(time.Second) {
		t.Error("the limit")
	}
	claim.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{corev1.ResourceStorage: corev1.PersistentVolumeClaimNodeResizeInProgress}
	if after(time.Hour) {
		t.Error("the node works on it")
	}
	claim.Status.AllocatedResourceStatuses = nil
	if after(0) || !after(onlineLimit) {
		t.Error("the limit begins again")
	}
	if pod = "new"; after(time.Hour) {
		t.Error("it has a new pod")
	}
}
