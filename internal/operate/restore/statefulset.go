// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore/progress"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// statefulSet returns the steps for members whose data is on claims. They stop all members,
// copy a data directory that was made on this machine to each, and start all as one new
// cluster. The old data stays in another directory.
func (r Plan) statefulSet() []step.Step {
	into := r.into()
	// What can fail on this machine comes before the members stop, and the present data is saved when clients write no more.
	steps := []step.Step{r.check(), r.makeData(into), r.tryImage(), r.cut()}
	if r.Answers {
		steps = append(steps, r.keep())
	}
	last := r.stop()
	if lost := r.lostClaims(); len(r.Gone)+len(lost) > 0 {
		steps = append(steps, r.stop())
		steps = append(steps, r.renameFirst()...)
		if len(lost) > 0 {
			steps = append(steps, r.replaceClaims(lost))
		}
		steps = append(steps, r.makeClaims(into))
		last.Title += " again"
	}
	steps = append(steps, last)
	steps = append(steps, r.putData(into)...)
	if r.OneByOne {
		steps = append(steps, r.startOne())
	} else {
		steps = append(steps, r.startAll())
	}
	steps = append(steps, r.end()...)
	if r.OneByOne || len(r.leftClaims()) > 0 { // no member is added while client traffic is cut
		steps = append(steps, r.freeClaims())
	}
	if r.DeletesClaims {
		steps = append(steps, r.deleteClaimsAgain())
	}
	if r.OneByOne {
		steps = append(steps, r.grow(len(r.Members)))
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

func (r Plan) stop() step.Step {
	s := step.Step{ID: stopped, Title: "Stop all members", Why: "Other writers of the StatefulSet (Helm, GitOps, an autoscaler) must leave it at 0 until the start."}
	r.keepClaims(&s) // also when the step is repeated: another client may have written the policy
	s.Acts = append(s.Acts, r.stopAll()...)
	return s
}

// The IDs of steps: no member runs, the old data has another name, the new data is there, the members run on it, clients
// reach it. Of druid: it is suspended, its members have no claims, the snapshot is in the store, a copy is there that has
// no name of a snapshot yet, and the store was tried.
const (
	stopped   = progress.Stopped
	renamed   = "renamed"
	copied    = "copied"
	started   = "started"
	letIn     = "let in"
	suspended = "suspended"
	removed   = "removed"
	stored    = "stored"
	uploaded  = "uploaded"
	probed    = "probed"

	// saved is that the present data is in a file.
	saved = "saved"
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

func (r Plan) startAll() step.Step {
	acts := []step.Action{r.scale(len(r.Members))}
	if r.disarms() {
		acts = append(acts, r.awaitRunning(r.Members)...)
	} else {
		acts = append(acts, r.explained(r.awaitReady(10*time.Minute)))
	}
	return step.Step{ID: started, Uses: []string{keptAway}, Title: "Start all members", Acts: acts}
}

// startOne is for members that wait for each other: the first is restored as a cluster of one,
// to which the others are added.
func (r Plan) startOne() step.Step {
	until := "with a quorum"
	acts := r.startFirst(5 * time.Minute)
	last := len(acts) - 1
	if r.disarms() {
		until += ", or after the alarm is disarmed"
		acts = append(acts[:1], r.awaitRunning(r.Members[:1])...)
	} else {
		acts[last] = r.explained(acts[last])
	}
	return step.Step{
		ID: started, Uses: []string{keptAway},
		Title: "Start the first member, as a cluster of one",
		Why:   "These members start one after the other and are ready only " + until + ". If there are several, the first waits forever.",
		Acts:  acts,
	}
}

func (r Plan) tidy(into []Member) step.Step {
	var aside []string
	for _, path := range r.oldPaths() {
		aside = append(aside, r.aside(path))
	}
	return step.Step{
		Title: "Later: remove the old data",
		Why: fmt.Sprintf("It is in %s of %s. When the cluster is healthy, this removes it: %s", strings.Join(aside, " and "), strings.Join(podsOf(into), ", "),
			r.plugin("snapshot restore %s --discard", r.Target())),
	}
}
