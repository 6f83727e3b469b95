// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"path/filepath"
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
		return nil, r.onlyEnds(why, r.Druid == nil && !has(started))
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
		steps = append(steps, r.putBack()...)
	case has(helpersRun), has(helpersFirst):
		_, end := r.helpers(r.into())
		steps = append(steps, end)
	}
	if has(tried) && !has(stopped) {
		steps = append(steps, step.Step{Title: "Delete the helper pod", Acts: []step.Action{r.deleteHelpers(r.imagePod())}})
	}
	return steps
}

// putBack returns the steps that give the old data its name again. Only copies of the new data on which no member has run
// are removed. What else has the name of the old data beside it gets another name: members may have run on it, whichever
// client started them, and clients may have written to it. The record of the old data stays, so that --discard finds it.
func (r Plan) putBack() []step.Step {
	into := r.intact()
	acts := r.dropCopies()
	for _, path := range r.oldPaths() {
		acts = append(acts, helper("sh", "-c", fmt.Sprintf("if test -e %[2]s; then %[3]s && mv %[2]s %[1]s; fi", format.Quote(path), format.Quote(r.aside(path)), r.keepUndone(path))))
	}
	acts = append(acts, helper(append([]string{"rm", "-f"}, r.SumPaths()...)...))
	start, end := r.helpers(into)
	back := step.Step{Title: "Give the old data its name again", Acts: []step.Action{r.noMember(), step.ForEach{Pods: podsOf(into), Acts: acts}}}
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
	if has(stored) || has(uploaded) {
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

// ranSince reports whether members may have run since their old data got another name: the restore or another client has
// started them.
func (r Plan) ranSince(has func(id string) bool) bool {
	return has(started) || r.Starter != "" && has(renamed)
}

// UndoLoses describes what an undoing takes from clients, empty for nothing.
func (r Plan) UndoLoses(rec *progress.Record) string {
	begun := r.begun(rec)
	if r.Druid != nil {
		return r.undoLosesStored(slices.Contains(begun, stored))
	}
	if !r.ranSince(func(id string) bool { return slices.Contains(begun, id) }) {
		return ""
	}
	ran := "The members have run on the restored data. What clients have written to it since"
	if !slices.Contains(begun, started) {
		ran = "Members may have run on other data than their old data: " + r.Starter + ". What clients have written to that"
	}
	return fmt.Sprintf("%s is not in the old data. It stays in the volumes, in %s.", ran, r.undone(r.Files.DataDir+"/member"))
}

// undoLosesStored describes what members may have lost of an Etcd that another client has started while the snapshot may have
// been in its store. Nothing gives that back.
func (r Plan) undoLosesStored(may bool) string {
	if r.Starter == "" || !may {
		return ""
	}
	text := "Members may have run while the snapshot was in the backup store: " + r.Starter + ". They keep what they have"
	if len(r.Members) == 1 {
		text += ". If the only member started then, it has the data of the snapshot, and its old data is deleted"
	}
	return text + "."
}

// Undone describes what the members do after an undoing, and what it took from clients, for the user.
func (r Plan) Undone(rec *progress.Record) string {
	text := r.startedAgain(rec) + r.sourceLeft(rec)
	if lost := r.UndoLoses(rec); lost != "" {
		return text + ". " + strings.TrimSuffix(lost, ".")
	}
	if r.Druid == nil && slices.Contains(r.begun(rec), renamed) {
		text += fmt.Sprintf(". If a member has run on other data than its old data, that is in %s; %s", r.undone(r.Files.DataDir+"/member"), r.discardHow())
	}
	return text
}

// sourceLeft returns where the data is of members that had no quorum when they stopped: etcd answers no client after its
// restart before a quorum has committed an entry. It is empty if they may have one.
func (r Plan) sourceLeft(rec *progress.Record) string {
	if rec.Led || !slices.Contains(r.begun(rec), stopped) {
		return ""
	}
	file, of := "", "the members"
	switch {
	case rec.Survivor != "":
		file, of = format.PrintableLine(rec.File), format.PrintableLine(rec.Survivor)
	case rec.Answers:
		file = r.savedFile()
	}
	if file == "" {
		return ""
	}
	where := ""
	if !filepath.IsAbs(file) {
		where = " of the directory in which the command began"
	}
	return fmt.Sprintf(". Without a quorum, they answer no client, and recover refuses. What %s had is in the file %s%s: keep it. To restore it: %s",
		of, file, where, r.plugin("snapshot restore %s %s --allow-unsaved", format.Quote(file), r.Target()))
}

func (r Plan) startedAgain(rec *progress.Record) string {
	switch {
	case !slices.Contains(r.begun(rec), stopped):
		return "the members have not been stopped"
	case r.Druid != nil && r.Starter != "":
		return "the members go on with the data that they have"
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
