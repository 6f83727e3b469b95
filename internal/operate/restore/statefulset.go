// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// statefulSet is the plan for members whose data is on claims: all are stopped,
// each gets a data directory that was made on this machine, and all start as one
// new cluster. What was there stays beside it.
func (r Plan) statefulSet() []step.Step {
	into := r.Members
	if r.OneByOne {
		into = r.Members[:1]
	}
	steps := []step.Step{r.check()}
	if r.Answers {
		steps = append(steps, r.keep())
	}
	steps = append(steps, r.cut())
	if len(r.Gone) > 0 {
		steps = append(steps, r.makeClaims(into))
	}
	steps = append(steps, r.stop(), r.makeData(into))
	steps = append(steps, r.putData(into)...)
	if r.OneByOne {
		steps = append(steps, r.startOne())
	} else {
		steps = append(steps, r.startAll())
	}
	steps = append(steps, r.end()...)
	if r.OneByOne { // no member is added while clients are cut off
		steps = append(steps, r.grow())
	}
	if r.DeletesClaims {
		steps = append(steps, r.deleteClaimsAgain())
	}
	return append(steps, r.tidy(into))
}

func (r Plan) keep() step.Step {
	return step.Step{
		Title: "Keep what is there now", Why: "The data directories are kept, too.",
		Acts: []step.Action{verb("snapshot", "save", r.target(), r.aside(r.Owner.Name)+".db")},
	}
}

// makeClaims has the StatefulSet's own controller and the scheduler make the volumes,
// where members can run.
func (r Plan) makeClaims(into []Member) step.Step {
	var claims []string
	for _, m := range into {
		for _, c := range r.Files.Claims {
			claims = append(claims, strings.ReplaceAll(c, podMark, m.Pod))
		}
	}
	s := step.Step{
		Title: "Have the members' volumes made",
		Why:   fmt.Sprintf("%s: gone. Members that start on new volumes are an empty cluster, and keep nothing.", strings.Join(r.Gone, ", ")),
	}
	r.keepClaims(&s)
	// Not in: that would take the claims of the others away.
	s.Acts = append(s.Acts, r.scale(len(r.running())))
	for _, c := range claims { // of several at once, kubectl waits for the first alone to be created
		s.Acts = append(s.Acts, step.Wait{Kind: step.Claim, Names: []string{c}, For: step.Created, Timeout: 5 * time.Minute})
	}
	s.Acts = append(s.Acts, step.Wait{Kind: step.Claim, Names: claims, For: step.Field("status.phase", "Bound"), Timeout: 5 * time.Minute})
	return s
}

func (r Plan) stop() step.Step {
	s := step.Step{Title: "Stop all members", Why: "Whatever else writes the StatefulSet (Helm, GitOps, an autoscaler) must leave it at 0 until the start."}
	if len(r.Gone) == 0 {
		r.keepClaims(&s)
	}
	s.Acts = append(s.Acts, r.stopAll()...)
	return s
}

// keepClaims belongs before whatever changes the number of replicas first.
func (r Plan) keepClaims(s *step.Step) {
	if r.DeletesClaims {
		s.Why += " Its claims are deleted when it scales in: that is switched off first."
		s.Acts = append(s.Acts, r.retain("Retain"))
	}
}

func (r Plan) makeData(into []Member) step.Step {
	s := step.Step{Title: "Make the data directories on this machine, all from the one file", Why: "It takes " + r.toolNote()}
	for _, m := range into {
		s.Acts = append(s.Acts, r.makeDataDir(m, into, r.dir()+"/"+m.Pod))
	}
	return s
}

// helperPod is the pod beside the volumes of each member.
const helperPod = "restore-" + step.EachPod

// helper returns a command in the pod beside a volume.
func helper(args ...string) step.PodAction { return step.Exec{Pod: helperPod, Args: args} }

func (r Plan) putData(into []Member) []step.Step {
	pods := podsOf(into)
	each := func(acts []step.PodAction) []step.Action {
		return []step.Action{step.ForEach{Pods: pods, Acts: acts}}
	}
	helpers := make([]string, len(pods))
	for i, pod := range pods {
		helpers[i] = "restore-" + pod
	}
	return []step.Step{
		{Title: "Start a pod beside each volume", Why: "With the members' own user, so that they can read what is written.", Acts: []step.Action{
			step.CreatePods{Pods: pods, Manifest: r.Files.Manifest, Mark: podMark},
			step.Wait{Kind: step.Pod, Names: helpers, For: step.Condition("Ready"), Timeout: 5 * time.Minute},
		}},
		{Title: "Set the old data aside", Acts: each(r.setAside())},
		{Title: "Bring the new data there", Acts: each(r.copyData())},
		{Title: "Compare what arrived", Why: "kubectl exec can lose the end of a stream without an error.", Acts: each(r.compareData())},
		{Title: "Remove the pods", Acts: []step.Action{step.Delete{Kind: step.Pod, Names: helpers}}},
	}
}

// setAside are the commands that rename the old data and its log.
func (r Plan) setAside() []step.PodAction {
	data := r.Files.DataDir
	rename := func(path string) step.PodAction {
		return helper("sh", "-c", fmt.Sprintf("test ! -e %s || mv %s %s", path, path, r.aside(path)))
	}
	acts := []step.PodAction{helper("mkdir", "-p", "-m", "700", data), rename(data + "/member")}
	if file := r.Owner.Product().StateFile; file != "" {
		acts = append(acts, helper("rm", "-f", data+"/"+file))
	}
	if wal := r.Files.WALDir; wal != "" {
		acts = append(acts, rename(wal))
	}
	return acts
}

// data and log are what is copied for each member.
func (r Plan) data() step.CopyDir {
	return step.CopyDir{From: r.dir() + "/" + step.EachPod, What: "member", Pod: helperPod, To: r.Files.DataDir}
}

func (r Plan) log() step.CopyDir {
	return step.CopyDir{From: r.dir() + "/" + step.EachPod + ".wal", What: ".", Pod: helperPod, To: r.Files.WALDir}
}

func (r Plan) copyData() []step.PodAction {
	acts := []step.PodAction{r.data()}
	if wal := r.Files.WALDir; wal != "" {
		acts = append(acts, helper("mkdir", "-p", "-m", "700", wal), r.log())
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
	return step.Step{Title: "Start all members", Acts: []step.Action{r.scale(len(r.Members)), r.awaitReady(10 * time.Minute)}}
}

// startOne is for members that wait for each other: the first is restored as a
// cluster of one, which then grows.
func (r Plan) startOne() step.Step {
	return step.Step{
		Title: "Start the first member, as a cluster of one",
		Why:   "Members start one after the other here and are ready only with a quorum: all at once would wait for each other for ever.",
		Acts:  r.startFirst(5 * time.Minute),
	}
}

// grow is how the others come back, whose data is of the cluster that was.
func (r Plan) grow() step.Step {
	var claims []string
	for _, m := range r.Members[1:] {
		for _, c := range r.Files.Claims {
			claims = append(claims, strings.ReplaceAll(c, podMark, m.Pod))
		}
	}
	grow := step.Step{
		Title: "Let it grow", Why: "The other members' old data must go first: copy it if it may still be wanted.",
		Acts: []step.Action{step.Delete{Kind: step.Claim, Names: claims, IgnoreMissing: true}},
	}
	if m := r.Owner.Membership(); m.Manager == flavour.Unmanaged {
		grow.Acts = append(grow.Acts, verb("scale", r.target(), "--replicas", strconv.Itoa(len(r.Members)), "-y"))
	} else {
		grow.Why += fmt.Sprintf(" Then to %d members, which %s adds: %s.", len(r.Members), m.ManagerName, m.ScaleHow)
	}
	return grow
}

func (r Plan) deleteClaimsAgain() step.Step {
	return step.Step{
		Title: "Have claims deleted again when it scales in", Why: "As it was before.",
		Acts: []step.Action{r.retain("Delete")},
	}
}

// retain says what becomes of claims when the StatefulSet scales in.
func (r Plan) retain(what string) step.Action {
	return step.Patch{Kind: step.StatefulSet, Name: r.Owner.StatefulSet, Body: map[string]any{
		"spec": map[string]any{"persistentVolumeClaimRetentionPolicy": map[string]any{"whenScaled": what}},
	}}
}

func (r Plan) tidy(into []Member) step.Step {
	gone := r.aside(r.Files.DataDir + "/member")
	if r.Files.WALDir != "" {
		gone += " and " + r.aside(r.Files.WALDir)
	}
	return step.Step{
		Title: "Later: remove the old data",
		Why:   fmt.Sprintf("It is in %s of %s. Start pods beside the volumes as above when all is well.", gone, strings.Join(podsOf(into), ", ")),
	}
}
