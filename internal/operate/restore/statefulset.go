// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// statefulSet returns the steps for members whose data is on claims. They stop all members,
// copy a data directory that was made on this machine to each, and start all as one new
// cluster. The old data stays in another directory.
func (r Plan) statefulSet() []step.Step {
	into := r.into()
	steps := []step.Step{r.check()}
	if r.Answers {
		steps = append(steps, r.keep())
	}
	// What can fail on this machine comes before the members stop.
	steps = append(steps, r.makeData(into), r.tryImage(), r.cut())
	if lost := r.lostClaims(); len(r.Gone)+len(lost) > 0 {
		steps = append(steps, r.stop())
		steps = append(steps, r.renameFirst()...)
		if len(lost) > 0 {
			steps = append(steps, r.replaceClaims(lost))
		}
		steps = append(steps, r.makeClaims(into))
	}
	steps = append(steps, r.stop())
	steps = append(steps, r.putData(into)...)
	if r.OneByOne {
		steps = append(steps, r.startOne())
	} else {
		steps = append(steps, r.startAll())
	}
	steps = append(steps, r.end()...)
	if r.OneByOne { // no member is added while client traffic is cut
		steps = append(steps, r.freeClaims())
	}
	if r.DeletesClaims {
		steps = append(steps, r.deleteClaimsAgain())
	}
	if r.OneByOne {
		steps = append(steps, r.grow())
	}
	return append(steps, r.tidy(into))
}

// tryImage returns the step that runs the image of the helper pods while all members still run: an image
// that can't be pulled, or that lacks a program, would be found after they have stopped.
func (r Plan) tryImage() step.Step {
	pod := r.imagePod()
	return step.Step{ID: tried, Title: "Try the image of the helper pods", Acts: []step.Action{
		r.deleteHelpers(pod),
		step.CreatePod{Manifest: r.Files.Try},
		step.Wait{Kind: step.Pod, Names: []string{pod}, For: step.Condition("Ready"), Timeout: 3 * time.Minute, ImageFlag: "--helper-image"},
		step.Exec{Pod: pod, Args: []string{"sh", "-c", "command -v tar && command -v sha256sum && command -v find && command -v sort"}},
		r.deleteHelpers(pod),
	}}
}

// into returns the members whose volumes get the snapshot.
func (r Plan) into() []Member {
	if r.OneByOne {
		return r.Members[:1]
	}
	return r.Members
}

func (r Plan) keep() step.Step {
	return step.Step{
		Title: "Save the present data", Why: "The data directories stay, too.",
		Acts: []step.Action{step.SaveSnapshot{Target: r.target(), File: r.aside(r.Owner.Name) + ".db"}},
	}
}

// intact are the members whose claims are there, with their old data.
func (r Plan) intact() []Member {
	replaced := slices.Concat(r.Gone, r.lostClaims())
	return slices.DeleteFunc(slices.Clone(r.into()), func(m Member) bool {
		return slices.ContainsFunc(r.claimsOf([]Member{m}), func(c string) bool { return slices.Contains(replaced, c) })
	})
}

// renameFirst renames the old data before members start on new volumes: with members that have lost
// their data, the others would change it.
func (r Plan) renameFirst() []step.Step {
	intact := r.intact()
	if len(intact) == 0 {
		return nil
	}
	start, end := r.helpers(intact)
	start.ID, end.ID = helpersFirst, "" // of other pods than later
	return []step.Step{start, {ID: renamed, Title: "Rename the old data", Uses: []string{stopped, helpersFirst}, Acts: []step.Action{
		r.noMember(), r.recordKept(), step.ForEach{Pods: podsOf(intact), Acts: r.setAside()},
	}}, end}
}

// lostClaims are the claims whose volumes are lost, and that exist.
func (r Plan) lostClaims() []string {
	var members []Member
	for _, m := range r.into() {
		if slices.Contains(r.Lost, m.Pod) {
			members = append(members, m)
		}
	}
	return slices.DeleteFunc(r.claimsOf(members), func(c string) bool { return slices.Contains(r.Gone, c) })
}

// replaceClaims removes the claims of volumes that are lost, so that the members get new ones.
func (r Plan) replaceClaims(lost []string) step.Step {
	s := step.Step{ID: replaced, Title: "Free the claims of the lost members", Why: "Their volumes stay, as PersistentVolumes that are Released, until you discard them."}
	if !slices.ContainsFunc(lost, func(c string) bool { return !slices.Contains(r.Unbound, c) }) {
		s.Why = "Their volumes are gone."
	}
	s.Acts = append(s.Acts, r.retainVolumes(lost)...)
	s.Acts = append(s.Acts, r.noMember(), step.Delete{Kind: step.Claim, Names: lost, IgnoreMissing: true})
	return s
}

// retainVolumes keeps the volumes of claims that are deleted next. A claim without a volume may have
// one by then.
func (r Plan) retainVolumes(claims []string) []step.Action {
	unbound := slices.DeleteFunc(slices.Clone(claims), func(c string) bool { return !slices.Contains(r.Gone, c) && !slices.Contains(r.Unbound, c) })
	bound := slices.DeleteFunc(slices.Clone(claims), func(c string) bool { return slices.Contains(unbound, c) })
	return []step.Action{r.recordKept(), step.RetainVolumes{Claims: bound, Unbound: unbound, Mark: r.volumeMark()}}
}

// makeClaims has the controller of the StatefulSet and the scheduler create the volumes, where
// members can run.
func (r Plan) makeClaims(into []Member) step.Step {
	claims := r.claimsOf(into)
	s := step.Step{
		ID: claimed, Title: "Create the members' volumes",
		Why: fmt.Sprintf("%s: gone. The members that this starts on new volumes form an empty cluster, which has no data.", strings.Join(slices.Concat(r.Gone, r.lostClaims()), ", ")),
	}
	r.keepClaims(&s)
	// Never fewer than now: a scale-in would delete the claims of the others.
	s.Acts = append(s.Acts, r.scale(len(r.running())))
	for _, c := range claims { // of several at once, kubectl waits for the first only
		s.Acts = append(s.Acts, step.Wait{Kind: step.Claim, Names: []string{c}, For: step.Created, Timeout: 5 * time.Minute})
	}
	s.Acts = append(s.Acts, step.Wait{Kind: step.Claim, Names: claims, For: step.Field("status.phase", "Bound"), Timeout: 5 * time.Minute})
	return s
}

func (r Plan) stop() step.Step {
	s := step.Step{ID: stopped, Title: "Stop all members", Why: "Other writers of the StatefulSet (Helm, GitOps, an autoscaler) must leave it at 0 until the start."}
	r.keepClaims(&s) // also when the step is repeated: another client may have written the policy
	s.Acts = append(s.Acts, r.stopAll()...)
	return s
}

// keepClaims belongs before the first change of the number of replicas.
func (r Plan) keepClaims(s *step.Step) {
	if r.DeletesClaims {
		s.Why += " A scale-in deletes its claims: that is switched off first."
		s.Acts = append(s.Acts, r.retain("Retain"))
	}
}

func (r Plan) makeData(into []Member) step.Step {
	s := step.Step{ID: made, Title: "Make all data directories on this machine, from the same file", Why: "It takes " + r.toolNote(), Acts: []step.Action{step.RemoveDir{Dir: r.dir()}}}
	for _, m := range into {
		s.Acts = append(s.Acts, r.makeDataDir(m, into, r.dir()+"/"+m.Pod))
	}
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
		{ID: renamed, Title: "Rename the old data", Uses: []string{stopped, helpersRun}, Acts: append([]step.Action{r.noMember(), r.recordKept()}, each(r.setAside())...)},
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
		step.Wait{Kind: step.Pod, Names: names, For: step.Condition("Ready"), Timeout: 5 * time.Minute},
	}}
	end = step.Step{Title: "Delete the helper pods", Acts: []step.Action{r.deleteHelpers(names...)}}
	return start, end
}

// The IDs of steps: no member runs, the old data has another name, the members run on new data, clients
// reach it. Of druid: it is suspended, its members have no claims, the snapshot is in the store.
const (
	stopped   = "stopped"
	renamed   = "renamed"
	started   = "started"
	letIn     = "let in"
	suspended = "suspended"
	removed   = "removed"
	stored    = "stored"

	// made is data directories on this machine, helpersRun and helpersFirst are the helper pods, keptAway
	// is the cut, and tried that the image of the helper pods runs.
	made         = "made"
	helpersRun   = "helpers"
	helpersFirst = "helpers first"
	keptAway     = "cut"
	tried        = "tried"
	// replaced is that lost claims are deleted, and claimed that members have run on new volumes.
	replaced = "replaced"
	claimed  = "claimed"
)

// noMember fails if a member runs, which another client may have started.
func (r Plan) noMember() step.Action {
	return step.Wait{Kind: step.Pod, Names: r.running(), For: step.Deleted, Timeout: time.Minute}
}

// setAside returns the commands that rename the old data and its log. What has the old name beside
// renamed data is a part of the new data, from a command that was interrupted.
func (r Plan) setAside() []step.PodAction {
	acts := []step.PodAction{helper("mkdir", "-p", "-m", "700", r.Files.DataDir)}
	for _, path := range r.oldPaths() {
		acts = append(acts, helper("sh", "-c", fmt.Sprintf("if test -e %[2]s; then rm -rf %[1]s; elif test -e %[1]s; then mv %[1]s %[2]s; fi", path, r.aside(path))))
	}
	return acts
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

func (r Plan) startAll() step.Step {
	return step.Step{ID: started, Uses: []string{keptAway}, Title: "Start all members", Acts: []step.Action{r.scale(len(r.Members)), r.awaitReady(10 * time.Minute)}}
}

// startOne is for members that wait for each other: the first is restored as a cluster of one,
// to which the others are added.
func (r Plan) startOne() step.Step {
	return step.Step{
		ID: started, Uses: []string{keptAway},
		Title: "Start the first member, as a cluster of one",
		Why:   "These members start one after the other and are ready only with a quorum. Of several, the first would wait forever.",
		Acts:  r.startFirst(5 * time.Minute),
	}
}

// freeClaims returns the step that removes the claims of the members that are added. A member is only
// added on a new volume.
func (r Plan) freeClaims() step.Step {
	claims := r.claimsOf(r.Members[1:])
	s := step.Step{
		Title: "Free the claims of the other members", Why: "The volumes with their old data stay, as PersistentVolumes that are Released, until you discard them.",
	}
	s.Acts = append(s.Acts, r.retainVolumes(claims)...)
	s.Acts = append(s.Acts, step.Delete{Kind: step.Claim, Names: claims, IgnoreMissing: true})
	return s
}

// grow returns the step that adds the other members.
func (r Plan) grow() step.Step {
	grow := step.Step{Title: "Add the other members", After: true}
	if m := r.Owner.Membership(); m.Manager == flavour.Unmanaged {
		grow.Acts = append(grow.Acts, verb("scale", r.target(), "--replicas", strconv.Itoa(len(r.Members)), "-y"))
	} else {
		grow.Why = fmt.Sprintf("Scale to %d members, which %s adds: %s.", len(r.Members), m.ManagerName, m.ScaleHow)
	}
	return grow
}

func (r Plan) deleteClaimsAgain() step.Step {
	return step.Step{
		Title: "Let a scale-in delete claims again", Why: "This is the setting from before.",
		Acts: []step.Action{r.retain("Delete")},
	}
}

// retain sets what a scale-in of the StatefulSet does with claims.
func (r Plan) retain(what string) step.Action {
	return step.Patch{Kind: step.StatefulSet, Name: r.Owner.StatefulSet, Body: map[string]any{
		"spec": map[string]any{"persistentVolumeClaimRetentionPolicy": map[string]any{"whenScaled": what}},
	}}
}

func (r Plan) tidy(into []Member) step.Step {
	var aside []string
	for _, path := range r.oldPaths() {
		aside = append(aside, r.aside(path))
	}
	return step.Step{
		Title: "Later: remove the old data",
		Why: fmt.Sprintf("It is in %s of %s. When the cluster is healthy, this removes it: %s", strings.Join(aside, " and "), strings.Join(podsOf(into), ", "),
			r.plugin("snapshot restore %s --discard", r.target())),
	}
}
