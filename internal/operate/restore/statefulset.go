// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// statefulSet is the plan for members whose data is on claims: all are stopped,
// each gets a data directory that was made on this machine, and all start as one
// new cluster. What was there stays beside it.
func (r Plan) statefulSet() []Step {
	into := r.Members
	if r.OneByOne {
		into = r.Members[:1]
	}
	steps := []Step{r.check()}
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

func (r Plan) keep() Step {
	return Step{
		Title: "Keep what is there now", Why: "The data directories are kept, too.",
		Commands: []string{r.plugin("snapshot save %s %s.db", r.target(), r.aside(r.Owner.Name))},
	}
}

// makeClaims has the StatefulSet's own controller and the scheduler make the volumes,
// where members can run.
func (r Plan) makeClaims(into []Member) Step {
	var claims []string
	for _, m := range into {
		for _, c := range r.Files.Claims {
			claims = append(claims, "pvc/"+strings.ReplaceAll(c, podMark, m.Pod))
		}
	}
	step := Step{
		Title: "Have the members' volumes made",
		Why:   fmt.Sprintf("%s: gone. Members that start on new volumes are an empty cluster, and keep nothing.", strings.Join(r.Gone, ", ")),
	}
	r.keepClaims(&step)
	// Not in: that would take the claims of the others away.
	step.Commands = append(step.Commands, r.kubectl("scale statefulset/%s --replicas=%d", r.Owner.StatefulSet, len(r.running())))
	for _, c := range claims { // of several at once, kubectl waits for the first alone to be created
		step.Commands = append(step.Commands, r.kubectl("wait --for=create --timeout=5m %s", c))
	}
	step.Commands = append(step.Commands, r.kubectl("wait --for=jsonpath='{.status.phase}'=Bound --timeout=5m %s", strings.Join(claims, " ")))
	return step
}

func (r Plan) stop() Step {
	step := Step{Title: "Stop all members", Why: "Whatever else writes the StatefulSet (Helm, GitOps, an autoscaler) must leave it at 0 until the start."}
	if len(r.Gone) == 0 {
		r.keepClaims(&step)
	}
	step.Commands = append(step.Commands,
		r.kubectl("scale statefulset/%s --replicas=0", r.Owner.StatefulSet),
		r.kubectl("wait --for=delete --timeout=5m pod/%s", strings.Join(r.running(), " pod/")))
	return step
}

// keepClaims belongs before whatever changes the number of replicas first.
func (r Plan) keepClaims(step *Step) {
	if r.DeletesClaims {
		step.Why += " Its claims are deleted when it scales in: that is switched off first."
		step.Commands = append(step.Commands, r.retain("Retain"))
	}
}

func (r Plan) makeData(into []Member) Step {
	step := Step{Title: "Make the data directories on this machine, all from the one file", Why: "It takes " + r.toolNote()}
	for _, m := range into {
		step.Commands = append(step.Commands, r.restoreCommand(m, into, r.dir()+"/"+m.Pod))
	}
	return step
}

// each is lines that run for every pod, as $pod.
func each(into []Member, lines ...string) string {
	return fmt.Sprintf("for pod in %s; do\n  %s\ndone", strings.Join(podsOf(into), " "), strings.Join(lines, "\n  "))
}

// helper is a command in the pod beside a volume.
func (r Plan) helper(command string) string { return r.kubectl("exec restore-$pod -- ") + command }

func (r Plan) putData(into []Member) []Step {
	data, wal := r.Files.DataDir, r.Files.WALDir
	inside := r.kubectl("exec -i restore-$pod --")
	setAside := []string{r.helper("mkdir -p -m 700 " + data), r.setAside(data + "/member")}
	if file := r.Owner.Product().StateFile; file != "" {
		setAside = append(setAside, r.helper("rm -f "+data+"/"+file))
	}
	put := []string{fmt.Sprintf("tar -C %s/$pod -cf - member | %s tar -C %s -xof -", r.dir(), inside, data)}
	same := r.same(r.dir()+"/$pod", data, "member")
	if wal != "" {
		setAside = append(setAside, r.setAside(wal))
		put = append(put, r.helper("mkdir -p -m 700 "+wal), fmt.Sprintf("tar -C %s/$pod.wal -cf - . | %s tar -C %s -xof -", r.dir(), inside, wal))
		same = append(same, r.same(r.dir()+"/$pod.wal", wal, ".")...)
	}
	manifest := fmt.Sprintf("sed \"s/%s/$pod/g\" <<'EOF' | %s\n%sEOF", podMark, r.kubectl("apply -f -"), r.Files.Manifest)
	return []Step{
		{Title: "Start a pod beside each volume", Why: "With the members' own user, so that they can read what is written.", Commands: []string{
			forEach(into, manifest), r.kubectl("wait --for=condition=Ready --timeout=5m pod/%s", "restore-"+strings.Join(podsOf(into), " pod/restore-")),
		}},
		{Title: "Set the old data aside", Commands: []string{each(into, setAside...)}},
		{Title: "Bring the new data there", Commands: []string{each(into, put...)}},
		{Title: "Compare what arrived", Why: "kubectl exec can lose the end of a stream without an error.", Commands: []string{each(into, same...)}},
		{Title: "Remove the pods", Commands: []string{r.kubectl("delete pod --wait restore-%s", strings.Join(podsOf(into), " restore-"))}},
	}
}

// setAside is a command that renames what is there, if anything is.
func (r Plan) setAside(path string) string {
	return r.helper(fmt.Sprintf("sh -c 'test ! -e %s || mv %s %s'", path, path, r.aside(path)))
}

// same are the lines that compare all files of a directory here with those there.
func (r Plan) same(here, there, what string) []string {
	sums := "find " + what + " -type f -exec sha256sum {} + | sort"
	return []string{
		fmt.Sprintf("here=$(cd %s && %s)", here, sums),
		fmt.Sprintf("there=$(%s)", r.helper(fmt.Sprintf("sh -c 'cd %s && %s'", there, sums))),
		`[ "$here" = "$there" ] && echo "$pod: the same" || { echo "$pod: NOT the same, bring it there again"; false; }`,
	}
}

// forEach is each for what has a heredoc, whose end must not be indented.
func forEach(into []Member, line string) string {
	return fmt.Sprintf("for pod in %s; do\n%s\ndone", strings.Join(podsOf(into), " "), line)
}

func podsOf(members []Member) []string { return Plan{Members: members}.pods() }

func (r Plan) startAll() Step {
	return Step{Title: "Start all members", Commands: []string{
		r.kubectl("scale statefulset/%s --replicas=%d", r.Owner.StatefulSet, len(r.Members)),
		r.kubectl("wait --for=jsonpath='{.status.readyReplicas}'=%d --timeout=10m statefulset/%s", len(r.Members), r.Owner.StatefulSet),
	}}
}

// startOne is for members that wait for each other: the first is restored as a
// cluster of one, which then grows.
func (r Plan) startOne() Step {
	return Step{
		Title: "Start the first member, as a cluster of one",
		Why:   "Members start one after the other here and are ready only with a quorum: all at once would wait for each other for ever.",
		Commands: []string{
			r.kubectl("scale statefulset/%s --replicas=1", r.Owner.StatefulSet),
			r.kubectl("wait --for=create --timeout=1m pod/%s", r.Members[0].Pod),
			r.kubectl("wait --for=condition=Ready --timeout=5m pod/%s", r.Members[0].Pod),
		},
	}
}

// grow is how the others come back, whose data is of the cluster that was.
func (r Plan) grow() Step {
	var claims []string
	for _, m := range r.Members[1:] {
		for _, c := range r.Files.Claims {
			claims = append(claims, strings.ReplaceAll(c, podMark, m.Pod))
		}
	}
	grow := Step{
		Title: "Let it grow", Why: "The other members' old data must go first: copy it if it may still be wanted.",
		Commands: []string{r.kubectl("delete pvc --ignore-not-found %s", strings.Join(claims, " "))},
	}
	if m := r.Owner.Membership(); m.Manager == flavour.Unmanaged {
		grow.Commands = append(grow.Commands, r.plugin("scale %s --replicas %d -y", r.target(), len(r.Members)))
	} else {
		grow.Why += fmt.Sprintf(" Then to %d members, which %s adds: %s.", len(r.Members), m.ManagerName, m.ScaleHow)
	}
	return grow
}

func (r Plan) deleteClaimsAgain() Step {
	return Step{
		Title: "Have claims deleted again when it scales in", Why: "As it was before.",
		Commands: []string{r.retain("Delete")},
	}
}

// retain says what becomes of claims when the StatefulSet scales in.
func (r Plan) retain(what string) string {
	return r.kubectl(`patch statefulset/%s --type merge -p '{"spec":{"persistentVolumeClaimRetentionPolicy":{"whenScaled":"%s"}}}'`, r.Owner.StatefulSet, what)
}

func (r Plan) tidy(into []Member) Step {
	gone := r.aside(r.Files.DataDir + "/member")
	if r.Files.WALDir != "" {
		gone += " and " + r.aside(r.Files.WALDir)
	}
	return Step{
		Title: "Later: remove the old data",
		Why:   fmt.Sprintf("It is in %s of %s. Start pods beside the volumes as above when all is well.", gone, strings.Join(podsOf(into), ", ")),
	}
}
