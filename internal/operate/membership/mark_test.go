// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// markOfSet returns the mark of the StatefulSet.
func (c *crashing) markOfSet() (string, bool) {
	mark, marked := operatetest.Field(c.Get(setAt), "metadata", "annotations")[v1alpha1.MemberChangeAnnotation].(string)
	return mark, marked
}

// setAnnotations changes the annotations of the StatefulSet.
func (c *crashing) setAnnotations(to apitest.Object) {
	c.change(setAt, func(o apitest.Object) { operatetest.Field(o, "metadata")["annotations"] = to })
}

// resumeOnce continues or undoes the operation of the journal, and returns the errors of the plan and of the run.
func (c *crashing) resumeOnce(t *testing.T, undo bool) (refused, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	m := c.members(t)
	j, err := ReadChange(ctx, m.Kube, m.Owner)
	if err != nil || j == nil {
		t.Fatalf("there is no journal: %v", err)
	}
	if _, refused = m.PlanResume(ctx, j, undo); undo {
		return refused, m.Undo(ctx, j, true)
	}
	return refused, m.Run(ctx, j)
}

// markedAt has a replacement die when it has marked the StatefulSet and written the template.
func markedAt(t *testing.T) *crashing {
	t.Helper()
	c := newCrashing(t)
	original := normal(c.Get(setAt))
	if !c.crash(t, restoring["replace"], 6) {
		t.Fatal("it has ended")
	}
	if _, marked := c.markOfSet(); !marked || len(differences("spec", original["spec"], normal(c.Get(setAt))["spec"])) == 0 {
		t.Fatalf("marked is %t, and the template is as it was", marked)
	}
	return c
}

// TestJournalWithoutMark: a journal of an earlier version, whose StatefulSet has no mark, is neither followed nor dropped.
// The refusal has the command after which it is continued or undone.
func TestJournalWithoutMark(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		c := markedAt(t)
		c.setAnnotations(nil)
		before := normal(c.Get(setAt))["spec"]
		refused, err := c.resumeOnce(t, undo)
		if !errors.As(refused, new(*operate.RefusedError)) || !errors.As(err, new(*operate.HaltedError)) || c.Get(journalAt) == nil {
			t.Fatalf("undo %t: the plan: %v, the run: %v", undo, refused, err)
		}
		if changed := differences("spec", before, normal(c.Get(setAt))["spec"]); len(changed) > 0 {
			t.Errorf("undo %t: it changed %q", undo, changed)
		}
		command := regexp.MustCompile(`kubectl annotate statefulset main kubectl-etcd.dev/member-change='(.*)' -n team`).FindStringSubmatch(refused.Error())
		if command == nil {
			t.Fatalf("undo %t: no command: %v", undo, refused)
		}
		c.setAnnotations(apitest.Object{v1alpha1.MemberChangeAnnotation: command[1]})
		if undo && c.Get(journalAt) == nil || !c.resume(t, undo) {
			t.Errorf("undo %t: it is not continued", undo)
		}
	}
}

// TestAppliedMeanwhile: what another client applies while an operation is interrupted has the values from before, and
// the operation ends as it would have.
func TestAppliedMeanwhile(t *testing.T) {
	t.Parallel()
	original := normal(newCrashing(t).Get(setAt))
	other := normal(original)
	_, container := containerOfSet(other)
	container["args"].([]any)[7] = "--initial-cluster=main-0=http://elsewhere:2380" //nolint:forcetypeassert // as the file has it
	for _, row := range []struct {
		name     string
		applied  apitest.Object
		keeps    bool
		refused  bool
		restored apitest.Object
	}{
		{name: "its manifest, by apply", applied: original, keeps: true, restored: original},
		{name: "its manifest, by replace", applied: original, restored: original},
		{name: "another initial cluster, by apply", applied: other, keeps: true, restored: original},
		{name: "another initial cluster, by replace", applied: other, refused: true, restored: other},
	} {
		for _, undo := range []bool{false, true} {
			c := markedAt(t)
			c.change(setAt, func(o apitest.Object) {
				o["spec"] = normal(row.applied)["spec"]
				if !row.keeps {
					delete(operatetest.Field(o, "metadata"), "annotations")
				}
			})
			refused, err := c.resumeOnce(t, undo)
			if (refused != nil) != row.refused || (err != nil) != row.refused || (c.Get(journalAt) != nil) != row.refused {
				t.Errorf("%s, undo %t: the plan: %v, the run: %v", row.name, undo, refused, err)
			}
			if changed := differences("spec", row.restored["spec"], normal(c.Get(setAt))["spec"]); len(changed) > 0 {
				t.Errorf("%s, undo %t: it left %q", row.name, undo, changed)
			}
		}
	}
}

// TestMarkOfEarlier: the mark of an operation whose journal is gone is no part of a new one.
func TestMarkOfEarlier(t *testing.T) {
	t.Parallel()
	c := markedAt(t)
	mark, _ := c.markOfSet()
	for text, want := range map[string]string{
		mark:                  "Before that change it had --initial-cluster=main-0=",
		`{"Container":"etcd"`: "a value that this version doesn't know",
		`{}`:                  "a value that this version doesn't know",
	} {
		c := newCrashing(t)
		c.setAnnotations(apitest.Object{v1alpha1.MemberChangeAnnotation: text})
		for name, plan := range maps.All(restoring) {
			_, _, err := plan(t.Context(), c.members(t))
			if !errors.As(err, new(*operate.RefusedError)) || !strings.Contains(err.Error(), want) ||
				!strings.Contains(err.Error(), "kubectl annotate statefulset main -n team kubectl-etcd.dev/member-change-") {
				t.Errorf("%s: %v, want %q", name, err, want)
			}
		}
	}
}

// TestMarkUnknown: a mark that this version doesn't know ends nothing, and nothing is done.
func TestMarkUnknown(t *testing.T) {
	t.Parallel()
	for _, undo := range []bool{false, true} {
		c := markedAt(t)
		c.setAnnotations(apitest.Object{v1alpha1.MemberChangeAnnotation: "x"})
		refused, err := c.resumeOnce(t, undo)
		if !errors.As(refused, new(*operate.RefusedError)) || !errors.As(err, new(*operate.HaltedError)) || c.Get(journalAt) == nil {
			t.Errorf("undo %t: the plan: %v, the run: %v", undo, refused, err)
		}
	}
}
