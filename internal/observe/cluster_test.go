// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// factsNow is the moment at which tests observe.
var factsNow = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// factsCase is one case of testdata/facts: the objects of a base file with
// what is different, and how old the leases are as this process saw them.
type factsCase struct {
	Base  string `json:"base"`
	Owner string `json:"owner"`
	// Seen has the time since each lease was seen to change. A lease that is
	// not in it is seen for the first time.
	Seen map[string]string `json:"seen"`
	// Patch has a JSON merge patch by Kind/name, null to drop the object.
	Patch map[string]json.RawMessage `json:"patch"`
	// Add has further objects.
	Add []json.RawMessage `json:"add"`
	// Answers are what members have answered about their health, by pod: healthy, unhealthy, or that the answer is
	// awaited. Nil asks none.
	Answers map[string]string `json:"answers"`
}

// TestFacts reads the objects of every case and compares what comes out with
// its golden file.
func TestFacts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/facts/*.case.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no cases", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".case.yaml")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c factsCase
			if err := yaml.UnmarshalStrict(read(t, file), &c); err != nil {
				t.Fatal(err)
			}
			r, owner := c.reader(t)
			facts, err := r.Facts(t.Context(), owner)
			if err != nil {
				t.Fatal(err)
			}
			observetest.Golden(t, filepath.Join("testdata/facts", name+".golden.txt"), render(facts))
		})
	}
}

// answers are those of members, by pod.
type answers map[string]string

func (answers) Asks(context.Context, owner.Owner) (bool, error) { return true, nil }

func (a answers) Answer(pod *corev1.Pod) Answer {
	text := a[pod.Name]
	return Answer{Known: strings.Contains(text, "healthy"), Healthy: strings.HasPrefix(text, "healthy"), Awaited: strings.HasSuffix(text, "awaited")}
}

// reader holds the case's objects, and has observed its leases as long ago as Seen has.
func (c *factsCase) reader(t *testing.T) (*Reader, owner.Owner) {
	t.Helper()
	clock := testclock.NewFakePassiveClock(factsNow)
	objects := c.objects(t)
	r := &Reader{Reader: objects, Leases: &leaseclock.Clock{Clock: clock}}
	if c.Answers != nil {
		r = r.Asking(answers(c.Answers))
	}
	for _, o := range objects {
		lease, ok := o.(*coordinationv1.Lease)
		if !ok || c.Seen[lease.Name] == "" {
			continue
		}
		age, err := time.ParseDuration(c.Seen[lease.Name])
		if err != nil {
			t.Fatal(err)
		}
		before := lease.DeepCopy()
		before.Spec.RenewTime.Time = before.Spec.RenewTime.Add(-10 * time.Second)
		clock.SetTime(factsNow.Add(-age - time.Second))
		r.Leases.Observe(before)
		clock.SetTime(factsNow.Add(-age))
		r.Leases.Observe(lease)
	}
	clock.SetTime(factsNow)
	kind, name, _ := strings.Cut(c.Owner, "/")
	owner, found, err := r.Owner(t.Context(), owner.Key{Kind: kind, Namespace: objects[0].GetNamespace(), Name: name})
	if err != nil || !found {
		t.Fatalf("owner %s: found %v, %v", c.Owner, found, err)
	}
	return r, owner
}

func (c *factsCase) objects(t *testing.T) observetest.Objects {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	base, err := observetest.Parse(scheme, read(t, filepath.Join("testdata/facts", c.Base+".objects.yaml")))
	if err != nil {
		t.Fatal(err)
	}
	unused := maps.Clone(c.Patch)
	var out observetest.Objects
	for _, o := range base {
		gvk, err := apiutil.GVKForObject(o, scheme)
		if err != nil {
			t.Fatal(err)
		}
		ref := gvk.Kind + "/" + o.GetName()
		delete(unused, ref)
		if patch, ok := c.Patch[ref]; ok {
			if string(patch) == "null" {
				continue
			}
			o = patched(t, scheme, o, patch)
		}
		out = append(out, o)
	}
	for _, text := range c.Add {
		added, err := observetest.Parse(scheme, text)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, added...)
	}
	if len(unused) > 0 {
		t.Fatalf("patches of objects that %s doesn't have: %v", c.Base, slices.Sorted(maps.Keys(unused)))
	}
	return out
}

func patched(t *testing.T, scheme *runtime.Scheme, o client.Object, patch []byte) client.Object {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = jsonpatch.MergePatch(text, patch); err != nil {
		t.Fatal(err)
	}
	out, err := observetest.Parse(scheme, text)
	if err != nil {
		t.Fatal(err)
	}
	return out[0]
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// render is the facts as one line each; what is absent has none.
func render(f Facts) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	c := f.Cluster
	line("cluster %s/%s: size %d, %d replicas", c.Namespace, c.Name, c.Size, f.Replicas)
	for _, m := range c.Members {
		var is []string
		for word, yes := range map[string]bool{"exists": m.Exists, "podReady": m.PodReady, "ready": m.Ready, "learner": m.Learner, "leader": m.Leader} {
			if yes {
				is = append(is, word)
			}
		}
		slices.Sort(is)
		line("member %s: %s; %s", m.Pod, strings.Join(append(is, m.Node), " "), strings.TrimSuffix(m.Zone+"; "+m.NodeLost, "; "))
	}
	line("AllMembersReady: %s", condition(c.AllMembersReady))
	line("BackupReady: %s", condition(c.BackupReady))
	if c.Operation != "" {
		line("operation: %s", c.Operation)
	}
	if c.Stale {
		line("stale")
	}
	if c.TrafficCut {
		line("traffic cut")
	}
	if k := f.Budgets.Managed; k != nil {
		line("budget managed: %s %s, %d other pods", k.Name, k.Value, c.NonMemberPods)
	}
	for _, pdb := range f.Budgets.Duplicates {
		line("budget duplicate: %s", pdb.Name)
	}
	for _, pdb := range f.Budgets.Detached {
		line("budget detached: %s", pdb.Name)
	}
	if p := f.Budgets.Problem; p != nil {
		line("budget problem: %s: %s", p.Reason, p.Message)
	}
	line("next change in %s, confirmed %v", f.NextChange, f.Confirmed)
	for _, n := range f.Notes {
		line("note: %s: %s", n.Reason, n.Message)
	}
	return b.String()
}

func condition(c policy.Condition) string {
	if c.Status == policy.Absent {
		return "absent"
	}
	return fmt.Sprintf("%s (%s, %s old), as evidence %s", c.Status, c.Reason, c.Age, c.Value())
}
