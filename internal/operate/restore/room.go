// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"path"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// walRoom is what the first file of a log needs: etcd reserves 64 MiB for it.
const walRoom = 64 << 20

// rooms returns the checks that the new data fits into the volumes beside the old data.
func (r Plan) rooms() []step.Room {
	how := ""
	if len(r.Lost)+len(r.Ending)+len(r.Gone)+len(r.Unbound) == 0 { // then it can be undone until members start
		how = "Or undo the restore with --abort"
	}
	data := step.Room{Pod: helperPod, Dir: r.Files.DataDir, Bytes: r.Snapshot.Size, How: how}
	log := data
	if n := len(r.Files.Claims); n > 0 { // without, the restore is refused
		each := func(claim string) string { return strings.ReplaceAll(claim, podMark, step.EachPod) }
		data.Claim, log.Claim = each(r.Files.Claims[0]), each(r.Files.Claims[n-1])
	}
	if r.Files.WALDir == "" {
		data.Bytes += walRoom
		return []step.Room{data}
	}
	log.Dir, log.Bytes = path.Dir(r.Files.WALDir), walRoom
	return []step.Room{data, log}
}

// roomBefore returns the commands that check the room before old data has another name. Where it has it,
// only room checks: of members that the restore has started to create volumes, what they wrote is removed before. What
// others wrote is kept, and needs room, too.
func (r Plan) roomBefore() []step.PodAction {
	var acts []step.PodAction
	for _, need := range r.rooms() {
		need.Unless = r.aside(r.Files.DataDir + "/member")
		acts = append(acts, helper("mkdir", "-p", "-m", "700", need.Dir), need)
	}
	return acts
}

// room returns the commands that check the room after old data has another name.
func (r Plan) room() []step.PodAction {
	var acts []step.PodAction
	for _, need := range r.rooms() {
		acts = append(acts, need)
	}
	return acts
}

// warnOfRoom warns of volumes that are smaller than the old and the new data, as far as the plan knows both. The steps
// find it out after all members have stopped. A volume may have more room than its claim shows: some kinds limit nothing.
func (r Plan) warnOfRoom(warn func(format string, args ...any)) {
	if r.Druid != nil || len(r.Files.Claims) == 0 {
		return
	}
	need := r.Database + r.Snapshot.Size
	if r.Files.WALDir == "" || len(r.Files.Claims) == 1 {
		need += 2 * walRoom // the old log, too
	}
	var small, patches []string
	for _, m := range r.intact() {
		claim := strings.ReplaceAll(r.Files.Claims[0], podMark, m.Pod)
		if have := r.Capacity[claim]; have > 0 && have < need && !slices.Contains(small, claim) {
			small, patches = append(small, claim), append(patches, step.GrowClaim(r.Flags, claim, need))
		}
	}
	if len(small) == 0 {
		return
	}
	warn("%s less than the %s that the old and the new data need, which the restore would find out after all members have stopped. Grow the volumes before the first step: %s",
		policy.Names(small, "has", "have"), policy.Bytes(need), strings.Join(patches, "; "))
}
