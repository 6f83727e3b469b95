// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"
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
	return []step.Step{
		start,
		{ID: renamed, Title: "Rename the old data", Uses: []string{stopped, helpersRun}, Acts: slices.Concat([]step.Action{r.noMember()}, each(r.roomBefore()), []step.Action{r.recordKept()}, each(r.setAside()), each(r.room()))},
		{
			Title: "Copy the new data and compare the copies", Why: "kubectl exec can lose the end of a stream without an error.", Uses: []string{made, stopped, helpersRun},
			Acts: slices.Concat([]step.Action{r.noMember()}, each(r.copyData()), each(r.compareData())),
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

// setAside returns the commands that rename the old data and its log. What has the old name beside
// renamed data is a part of the new data, from a command that was interrupted.
func (r Plan) setAside() []step.PodAction {
	var acts []step.PodAction
	for _, path := range r.oldPaths() {
		acts = append(acts, helper("sh", "-c", fmt.Sprintf("if test -e %[2]s; then rm -rf %[1]s; elif test -e %[1]s; then mv %[1]s %[2]s; fi", format.Quote(path), format.Quote(r.aside(path)))))
	}
	return acts
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

// data and log are what is copied for each member.
func (r Plan) data() step.CopyDir {
	return step.CopyDir{From: r.dir() + "/" + step.EachPod, What: "member", Pod: helperPod, To: r.Files.DataDir}
}

func (r Plan) log() step.CopyDir {
	return step.CopyDir{From: r.dir() + "/" + step.EachPod + ".wal", What: ".", Pod: helperPod, To: r.Files.WALDir}
}

// copyData returns the commands that copy new data in place of what an interrupted command has copied,
// which the tool may have made with other bytes. The old data has another name by then.
func (r Plan) copyData() []step.PodAction {
	acts := []step.PodAction{helper("rm", "-rf", r.Files.DataDir+"/member"), r.data()}
	if wal := r.Files.WALDir; wal != "" {
		acts = append(acts, helper("rm", "-rf", wal), helper("mkdir", "-p", "-m", "700", wal), r.log())
	}
	return acts
}

func (r Plan) compareData() []step.PodAction {
	acts := []step.PodAction{step.CompareDir(r.data())}
	if r.Files.WALDir != "" {
		acts = append(acts, step.CompareDir(r.log()))
	}
	return acts
}
