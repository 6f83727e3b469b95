// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

func (r Plan) makeData(into []Member) step.Step {
	s := step.Step{ID: made, Title: "Make all data directories on this machine, from the same file", Why: "It takes " + r.toolNote(), Acts: []step.Action{step.RemoveDir{Dir: r.dir()}}}
	for _, m := range into {
		s.Acts = append(s.Acts, r.makeDataDir(m, into, r.dir()+"/"+m.Pod))
	}
	s.Acts = append(s.Acts, r.same()) // after the tool has read it
	return s
}

// helper returns a command in a helper pod.
func helper(args ...string) step.PodAction { return step.Exec{Pod: helperPod, Args: args} }

func (r Plan) putData(into []Member) []step.Step {
	pods := podsOf(into)
	each := func(acts []step.PodAction) []step.Action {
		return []step.Action{step.ForEach{Pods: pods, Acts: acts}}
	}
	start, end := r.helpers(into)
	ran, rename := len(r.Gone)+len(r.lostClaims()) > 0, "Rename the old data"
	if ran { // to create volumes
		rename = "Move the data of the empty cluster away"
	}
	if ran && len(r.intact()) > 0 {
		start.Title += " again"
	}
	return []step.Step{
		start,
		{ID: renamed, Title: rename, Uses: []string{stopped, helpersRun}, Acts: slices.Concat([]step.Action{r.noMember()}, each(r.roomBefore()), []step.Action{r.recordKept()}, each(r.setAside(ran)), each(r.room()))},
		{
			ID: copied, Title: "Copy the new data and compare the copies", Why: "kubectl exec can lose the end of a stream without an error.", Uses: []string{made, stopped, helpersRun},
			Acts: append([]step.Action{r.noMember()}, each(r.copyData())...),
		},
		end,
	}
}

// helpers returns the steps that start and that delete a helper pod for each member.
func (r Plan) helpers(into []Member) (start, end step.Step) {
	pods := podsOf(into)
	names := make([]string, len(pods))
	for i, pod := range pods {
		names[i] = helperName(pod)
	}
	start = step.Step{ID: helpersRun, Title: "Start a helper pod for each member", Why: "It has the user of the member, so that the member can read what it writes.", Uses: []string{stopped}, Acts: []step.Action{
		r.deleteHelpers(names...), // of an interrupted run
		step.CreatePods{Pods: pods, Manifest: r.Files.Manifest, Mark: podMark},
		step.Wait{Kind: step.Pod, Names: names, For: step.Condition("Ready"), Timeout: 5 * time.Minute, ImageFlag: "--helper-image"},
	}}
	end = step.Step{Title: "Delete the helper pods", Acts: []step.Action{r.deleteHelpers(names...)}}
	return start, end
}

// noMember fails if a member runs, which another client may have started.
func (r Plan) noMember() step.Action {
	return step.Wait{Kind: step.Pod, Names: r.running(), For: step.Deleted, Members: true, Timeout: time.Minute}
}

// setAside returns the commands that rename the old data and its log. What has the old name beside renamed data is of members
// that have run since. If another client started them, it gets a name, too. If the restore did, to create volumes, nothing
// of it is needed.
func (r Plan) setAside(ran bool) []step.PodAction {
	var acts []step.PodAction
	for _, path := range r.oldPaths() {
		now, old := format.Quote(path), format.Quote(r.aside(path))
		free := r.keepUndone(path)
		if ran {
			free = "rm -rf " + now
		}
		acts = append(acts, helper("sh", "-c", fmt.Sprintf("if test -e %[2]s; then %[3]s; elif test -e %[1]s; then mv %[1]s %[2]s; fi", now, old, free)))
	}
	return acts
}

// keepUndone returns the command that moves what members may have written since the old data of a path was renamed. Each
// time it gets another name in the same directory: the restore or its undoing may be interrupted and repeated.
func (r Plan) keepUndone(path string) string {
	return fmt.Sprintf(`if test -e %[1]s; then mkdir -p -m 700 %[2]s; n=1; while test -e %[2]s/$n; do n=$((n+1)); done; mv %[1]s %[2]s/$n; fi`, format.Quote(path), format.Quote(r.undone(path)))
}

// KeptPaths returns the paths that old data has in the volume of a member after the restore, or after its undoing.
func (r Plan) KeptPaths() []string {
	var kept []string
	for _, path := range r.oldPaths() {
		kept = append(kept, r.aside(path), r.undone(path))
	}
	return kept
}

// oldPaths returns what is renamed for a restore, as the members' containers see it.
func (r Plan) oldPaths() []string {
	paths := []string{r.Files.DataDir + "/member"}
	if file := r.Owner.Product().StateFile; file != "" {
		paths = append(paths, r.Files.DataDir+"/"+file)
	}
	if r.Files.WALDir != "" {
		paths = append(paths, r.Files.WALDir)
	}
	return paths
}

// data and log are what is copied for each member. The copy gets the name under which a member finds it when it is
// complete: so what has that name may be a member's own.
func (r Plan) data() step.CopyDir {
	path := r.Files.DataDir + "/member"
	return step.CopyDir{From: r.dir() + "/" + step.EachPod, What: "member", Pod: helperPod, To: r.incomplete(path), Sums: r.sums(path)}
}

func (r Plan) log() step.CopyDir {
	d := step.CopyDir{From: r.dir() + "/" + step.EachPod + ".wal", What: ".", Pod: helperPod, To: r.incomplete(r.Files.WALDir), Sums: r.sums(r.Files.WALDir)}
	if r.logInData() {
		d.Sums = ""
	}
	return d
}

// logInData reports whether the log is a directory of its own that is a part of the data. The sums of the data then have it.
func (r Plan) logInData() bool {
	return strings.HasPrefix(r.Files.WALDir, r.Files.DataDir+"/member/")
}

// sums returns the file with the sums of the complete copy of a path. It shows whether a member has run on the copy.
func (r Plan) sums(path string) string { return path + ".copied-" + r.stamp() }

// SumPaths returns the files with the sums of the copies of a member.
func (r Plan) SumPaths() []string {
	paths := []string{r.data().Sums}
	if sums := r.log().Sums; r.Files.WALDir != "" && sums != "" {
		paths = append(paths, sums)
	}
	return paths
}

// incomplete returns the directory for the copy of a path until it is complete.
func (r Plan) incomplete(path string) string { return path + ".new-" + r.stamp() }

// incompletePaths are those that the copies of a member have until they are complete.
func (r Plan) incompletePaths() []string {
	paths := []string{r.incomplete(r.Files.DataDir + "/member")}
	if r.Files.WALDir != "" {
		paths = append(paths, r.incomplete(r.Files.WALDir))
	}
	return paths
}

// copyData returns the commands that copy new data in place of what an interrupted command has copied. The tool may have
// made it with other bytes. The old data has another name by then.
func (r Plan) copyData() []step.PodAction {
	acts := r.dropCopies() // there may be no room for a second copy
	data := r.data()
	acts = append(acts, r.copyOf(data, r.Files.DataDir+"/member", data.To+"/"+data.What)...)
	acts = append(acts, helper("rmdir", data.To))
	if wal := r.Files.WALDir; wal != "" { // it may be below the data
		acts = append(acts, r.copyOf(r.log(), wal, r.log().To)...)
	}
	if r.logInData() {
		acts = append(acts, helper("sh", "-c", step.CompareDir(data).WriteSums(r.Files.DataDir)))
	}
	return acts
}

// dropCopies returns the commands that remove incomplete copies, and complete ones on which no member has run. A complete
// copy loses its name first, so that no member ever starts on a part of it.
func (r Plan) dropCopies() []step.PodAction {
	drop := func(d step.CopyDir, parent, path string) step.PodAction {
		return helper("sh", "-c", fmt.Sprintf("if %s; then mv %[2]s %[3]s && rm -rf %[3]s; fi", step.CompareDir(d).Unchanged(parent), format.Quote(path), format.Quote(d.To)))
	}
	acts := []step.PodAction{
		helper(append([]string{"rm", "-rf"}, r.incompletePaths()...)...),
		drop(r.data(), r.Files.DataDir, r.Files.DataDir+"/member"),
	}
	if wal := r.Files.WALDir; wal != "" && !r.logInData() {
		acts = append(acts, drop(r.log(), wal, wal))
	}
	return acts
}

// copyOf returns the commands that copy a directory, compare the copy, and give it a name.
func (r Plan) copyOf(d step.CopyDir, path, result string) []step.PodAction {
	return []step.PodAction{
		helper("mkdir", "-p", "-m", "700", d.To), d, step.CompareDir(d),
		helper("sh", "-c", fmt.Sprintf("%s && mv %s %s", r.keepUndone(path), format.Quote(result), format.Quote(path))),
	}
}
