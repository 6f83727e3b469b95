// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
)

// Undo returns the steps that start the members on their old data again. Each can be repeated. The
// error is why the old data can't come back.
func (r Plan) Undo(rec *progress.Record) ([]step.Step, error) {
	if rec.Undone {
		return nil, nil // only the journal is left
	}
	if err := r.mayUndoUnmarked(rec); err != nil {
		return nil, err
	}
	begun := r.begun(rec)
	has := func(id string) bool { return slices.Contains(begun, id) }
	if why := mayNotUndo(has); why != "" {
		return nil, r.onlyEnds(why)
	}
	starts := has(stopped) || len(r.Gone) > 0
	if err := r.claimsMayUndo(has(renamed) || has(started)); err != nil && r.Druid == nil && starts {
		return nil, err
	}
	steps := r.undoData(has)
	if r.Druid != nil {
		return append(steps, r.undoDruid(has)...), nil
	}
	if starts {
		steps = append(steps, r.startAgain())
	}
	if r.DeletesClaims {
		steps = append(steps, r.deleteClaimsAgain())
	}
	if r.Clients {
		s := r.letIn("")
		s.ID = ""
		steps = append(steps, s)
	}
	return steps, nil
}

// mayNotUndo returns why the old data can't come back after some steps, empty if it can.
func mayNotUndo(has func(id string) bool) string {
	switch {
	case has(letIn):
		return "clients have been let in, and what they have written would be lost"
	case has(replaced), has(claimed):
		return "members have new volumes, and would form an empty cluster beside those with their old data"
	case has(removed):
		return "the claims of the old volumes are deleted, and the volumes are Released"
	}
	return ""
}

// undoData returns the steps that give the old data its name again, and delete helper pods.
func (r Plan) undoData(has func(id string) bool) []step.Step {
	var steps []step.Step
	if has(started) || has(renamed) {
		steps = append(steps, r.stop())
	}
	switch {
	case has(renamed):
		steps = append(steps, r.putBack(has(started))...)
	case has(helpersRun), has(helpersFirst):
		_, end := r.helpers(r.into())
		steps = append(steps, end)
	}
	if has(tried) && !has(stopped) {
		steps = append(steps, step.Step{Title: "Delete the helper pod", Acts: []step.Action{r.deleteHelpers(r.imagePod())}})
	}
	return steps
}

// putBack returns the steps that give the old data its name again. New data is only removed beside
// old data that is still there. After members have started on it, it gets another name: clients may have
// written to it.
func (r Plan) putBack(started bool) []step.Step {
	into := r.intact()
	var acts []step.PodAction
	for _, path := range r.oldPaths() {
		now, old := format.Quote(path), format.Quote(r.aside(path))
		free := "rm -rf " + now
		if started {
			free = fmt.Sprintf("{ test ! -e %[1]s || mv %[1]s %[2]s; }", now, format.Quote(r.undone(path)))
		}
		acts = append(acts, helper("sh", "-c", fmt.Sprintf("if test -e %[2]s; then %[3]s && mv %[2]s %[1]s; fi", now, old, free)))
	}
	start, end := r.helpers(into)
	back := step.Step{Title: "Give the old data its name again", Acts: []step.Action{r.noMember(), step.ForEach{Pods: podsOf(into), Acts: acts}}}
	if !started {
		back.Acts = append(back.Acts, r.WithoutRecords(r.stamp()))
	}
	return []step.Step{start, back, end}
}

// startAgain starts as many members as before. Whether they become ready is not known to the restore:
// the old cluster may have been broken.
func (r Plan) startAgain() step.Step {
	pods := r.running()[:r.Owner.Replicas]
	s := step.Step{Title: "Start the members on their old data", Acts: []step.Action{
		step.Scale{StatefulSet: r.Owner.StatefulSet, Replicas: len(pods), Declared: r.OneByOne, Mark: true},
	}}
	if len(pods) > 0 {
		s.Acts = append(s.Acts, step.Wait{Kind: step.Pod, Names: pods[:1], For: step.Created, Timeout: time.Minute})
	}
	return s
}

// undoDruid returns the steps that let etcd-druid go on with the old data.
func (r Plan) undoDruid(has func(id string) bool) []step.Step {
	var steps []step.Step
	if has(stored) {
		steps = append(steps, r.removeFromStore())
	}
	if has(stopped) {
		steps = append(steps, r.startAgain())
	}
	if has(suspended) {
		var back []step.Annotation
		for _, key := range []string{unprotection, traffic.SuspendAnnotation} {
			if _, there := r.Owner.Annotations[key]; !there {
				back = append(back, step.Annotation{Key: key, Remove: true})
			}
		}
		if len(back) > 0 {
			steps = append(steps, step.Step{Title: "Resume etcd-druid", Acts: []step.Action{r.annotate(true, back...)}})
		}
	}
	return steps
}

// undone returns the new path of data that members have run on.
func (r Plan) undone(path string) string { return path + ".undone-" + r.stamp() }

// UndoLoses describes what an undoing takes from clients, empty for nothing.
func (r Plan) UndoLoses(rec *progress.Record) string {
	if !slices.Contains(r.begun(rec), started) || r.Druid != nil {
		return ""
	}
	return fmt.Sprintf("The members have run on the restored data. What clients have written to it since is not in the old data. It stays in the volumes, in %s.", r.undone(r.Files.DataDir+"/member"))
}

// Undone describes what the members do after an undoing, and what it took from clients, for the user.
func (r Plan) Undone(rec *progress.Record) string {
	if lost := r.UndoLoses(rec); lost != "" {
		return r.startedAgain(rec) + ". " + strings.TrimSuffix(lost, ".")
	}
	return r.startedAgain(rec)
}

func (r Plan) startedAgain(rec *progress.Record) string {
	switch {
	case !slices.Contains(r.begun(rec), stopped):
		return "the members have not been stopped"
	case r.OneByOne && r.Owner.Replicas > 1:
		return fmt.Sprintf("the first member starts on its old data, and the others wait until it is Ready, which takes a quorum; how to start them all: %s",
			r.plugin("check %s --only W009", r.Target()))
	}
	return "the members start on their old data"
}

// Ended describes what the plan has lost and what it leaves behind, for the user.
func (r Plan) Ended() string {
	return "before the restore, " + r.lost() + "; " + r.leaves()
}

func (r Plan) leaves() string {
	if r.Druid != nil {
		return "the old volumes are PersistentVolumes that are Released; " + r.discardHow()
	}
	var aside []string
	for _, path := range r.oldPaths() {
		aside = append(aside, r.aside(path))
	}
	return "the old data is in " + strings.Join(aside, ", ") + "; " + r.discardHow()
}
