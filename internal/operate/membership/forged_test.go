// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// canary is what another user would have written to the StatefulSet.
const canary = "canary"

var journalAt = operatetest.Path("ConfigMap", "kubectl-etcd-main")

// forgeRow is a journal that a user has changed who may write ConfigMaps, and not the StatefulSet.
type forgeRow struct {
	name string
	// prepare changes the StatefulSet before the operation.
	prepare func(spec, container apitest.Object)
	forge   func(payload apitest.Object)
	// of are the operations, and by is the number of writes between two at which the command dies.
	of []string
	by int
}

var forgeRows = []forgeRow{
	{name: "flags", of: []string{"scale out", "replace"}, by: 3, forge: func(p apitest.Object) {
		args := operatetest.Field(p, "Args")
		args["Cluster"], args["State"] = []any{canary}, []any{canary}
	}},
	{name: "flags of another command line", of: []string{"replace"}, by: 7, forge: func(p apitest.Object) {
		p["Args"] = apitest.Object{"Digest": "x", "Cluster": []any{canary}}
	}},
	{name: "a script", of: []string{"replace"}, by: 6, prepare: inScriptOf, forge: func(p apitest.Object) {
		operatetest.Field(p, "Command")["Cluster"] = []any{"a; " + canary}
	}},
	{name: "a variable that the template doesn't have", of: []string{"replace"}, by: 6, prepare: withoutState, forge: func(p apitest.Object) {
		p["Env"] = []any{apitest.Object{"name": "ETCD_INITIAL_CLUSTER_STATE", "value": canary}}
	}},
	{name: "the strategy", of: []string{"scale out", "replace"}, by: 6, forge: func(p apitest.Object) {
		operatetest.Field(p, "Strategy", "rollingUpdate")["maxUnavailable"] = canary
	}},
	{name: "values and the digest of the template", of: []string{"replace"}, by: 7, forge: func(p apitest.Object) {
		operatetest.Field(p, "Args")["State"] = []any{canary}
		p["Rest"] = "x"
	}},
}

// inScriptOf has the container start etcd by a script of the template.
func inScriptOf(_, container apitest.Object) {
	line := "exec etcd"
	for _, arg := range container["args"].([]any) { //nolint:forcetypeassert // as the file has it
		line += " " + arg.(string) //nolint:forcetypeassert // arguments are strings
	}
	delete(container, "args")
	container["command"] = []any{"sh", "-c", line}
}

// withoutState removes a flag, so that an operation writes the variable instead.
func withoutState(_, container apitest.Object) {
	container["args"] = slices.DeleteFunc(container["args"].([]any), func(arg any) bool { return strings.HasPrefix(arg.(string), "--initial-cluster-state") }) //nolint:forcetypeassert // as the file has it
}

// containerOfSet returns the spec of a StatefulSet and the container of its template.
func containerOfSet(sts apitest.Object) (spec, container apitest.Object) {
	containers := operatetest.Field(sts, "spec", "template", "spec")["containers"].([]any) //nolint:forcetypeassert // as the file has it
	return operatetest.Field(sts, "spec"), containers[0].(apitest.Object)                  //nolint:forcetypeassert // as the file has it
}

// change changes an object as another client does.
func (c *crashing) change(at string, change func(o apitest.Object)) {
	o := runtime.DeepCopyJSON(normal(c.Get(at)))
	change(o)
	c.Put(at, o)
}

// prepared returns a cluster whose StatefulSet was changed before an operation.
func prepared(t *testing.T, prepare func(spec, container apitest.Object)) *crashing {
	t.Helper()
	c := newCrashing(t)
	if prepare == nil {
		return c
	}
	c.change(setAt, func(o apitest.Object) { prepare(containerOfSet(o)) })
	for _, pod := range []string{"main-0", "main-1", "main-2"} { // so that no rollout is under way
		c.Remove(operatetest.Path("Pod", pod))
	}
	c.Reconcile(t)
	return c
}

// forge changes the payload of the journal. It reports whether there is one.
func (c *crashing) forge(t *testing.T, change func(payload apitest.Object)) bool {
	t.Helper()
	if c.Get(journalAt) == nil {
		return false
	}
	c.change(journalAt, func(o apitest.Object) {
		data := operatetest.Field(o, "data")
		var j apitest.Object
		if err := json.Unmarshal([]byte(data["journal.json"].(string)), &j); err != nil { //nolint:forcetypeassert // as it was written
			t.Fatal(err)
		}
		change(operatetest.Field(j, "payload"))
		text, err := json.Marshal(j)
		if err != nil {
			t.Fatal(err)
		}
		data["journal.json"] = string(text)
	})
	return true
}

type planner func(context.Context, *Members) (*Change, operate.Plan, error)

var restoring = map[string]planner{
	"scale out": func(ctx context.Context, m *Members) (*Change, operate.Plan, error) {
		return m.PlanScale(ctx, 5, false)
	},
	"replace": func(ctx context.Context, m *Members) (*Change, operate.Plan, error) {
		return m.PlanReplace(ctx, "main-2", true)
	},
}

// TestForged: nothing that another user has written into the journal is ever in the StatefulSet, whenever the command
// died. The operation ends with the values from before, or is refused.
func TestForged(t *testing.T) {
	t.Parallel()
	for _, row := range forgeRows {
		for _, name := range row.of {
			for _, undo := range []bool{false, true} {
				t.Run(row.name+"/"+name+"/"+map[bool]string{false: "continue", true: "undo"}[undo], func(t *testing.T) {
					t.Parallel()
					ends := map[bool]int{}
					for at := 2; ; at += row.by {
						c := prepared(t, row.prepare)
						if !c.crash(t, restoring[name], at) {
							break
						}
						if c.forge(t, row.forge) {
							ends[c.resumeForged(t, at, undo)]++
						}
					}
					if ends[true] == 0 || ends[false] == 0 && !undo { // nothing is restored before the first change
						t.Errorf("it was continued %d times, and refused %d times", ends[true], ends[false])
					}
				})
			}
		}
	}
}

// resumeForged ends an operation with a forged journal. It reports whether it ended, and not refused to.
func (c *crashing) resumeForged(t *testing.T, at int, undo bool) bool {
	t.Helper()
	unhooked, written := c.Refuse, false
	c.Refuse = func(method, path string) int {
		written = written || c.hasCanary(t)
		return unhooked(method, path)
	}
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	m := c.members(t)
	j, err := ReadChange(ctx, m.Kube, m.Owner)
	if err != nil || j == nil {
		t.Fatalf("dead at write %d: %v", at, err)
	}
	_, refused := m.PlanResume(ctx, j, undo)
	if undo {
		err = m.Undo(ctx, j, true)
	} else {
		err = m.Run(ctx, j)
	}
	if written || c.hasCanary(t) {
		t.Fatalf("dead at write %d: the StatefulSet has what another user wrote into the journal", at)
	}
	if errors.As(refused, new(*operate.RefusedError)) != errors.As(err, new(*operate.HaltedError)) {
		t.Errorf("dead at write %d: the plan is refused with %v, and the run ends with %v", at, refused, err)
	}
	if refused != nil {
		for _, want := range []string{"kubectl-etcd.dev/member-change", "Every user who may write ConfigMaps", canary} {
			if !strings.Contains(refused.Error(), want) {
				t.Errorf("dead at write %d: %q is missing in: %v", at, want, refused)
			}
		}
	}
	if kept := c.Get(journalAt) != nil; kept != (err != nil) {
		t.Errorf("dead at write %d: the journal is there: %t, with %v", at, kept, err)
	}
	return err == nil
}

func (c *crashing) hasCanary(t *testing.T) bool {
	t.Helper()
	text, err := json.Marshal(c.Get(setAt)["spec"])
	if err != nil {
		t.Error(err)
	}
	return strings.Contains(string(text), canary)
}
