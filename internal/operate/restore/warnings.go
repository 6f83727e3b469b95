// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// passing returns the warnings with an error or a size of the moment, which read otherwise a moment later.
func (r Plan) passing() []operate.Passing {
	var out []operate.Passing
	warn := func(format string, args ...any) { out = append(out, operate.Passingf(format+".", args...)) }
	r.warnOfUnsaved(warn)
	r.warnOfRoom(warn)
	return out
}

func (r Plan) warnings() []string {
	var out []string
	warn := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	if !r.Snapshot.Hashed {
		warn("%s has no hash at its end: it is a copy of a member's own database, which may have changed while it was copied", r.File)
	}
	if r.isCut() && r.Clients {
		warn("client traffic is already cut until %s%s: it stays cut until then, even if the restore ends earlier. To end that cut later: %s",
			format.Time(r.Before.Until()), r.cutBy(), r.plugin("restore-client-traffic %s", r.Target()))
	}
	if r.Etcd == "" {
		warn("the version of the members isn't known: the tool that restores must be of the same minor release")
	}
	r.warnOfAuthentication(warn)
	if m := r.Owner.Membership(); m.Manager == flavour.ByOperator && r.Druid == nil {
		warn("%s writes the StatefulSet: stop it before the first step, or it starts members too early", m.ManagerName)
	}
	if r.Files.UserUnknown {
		warn("no runAsUser is set, so the members run as the user of their image, and the helper pods as that of %s. The members may not be able to read what the helper pods write. Set runAsUser in StatefulSet %s before the first step, or use a --helper-image with the same user",
			r.Files.Image, r.Owner.StatefulSet)
	}
	if r.Druid != nil && traffic.Suspended(r.Owner) {
		warn("annotation %s suspends etcd-druid. The steps remove it so that druid creates the other members, and set it again at the end. Until then druid also applies all other changes of the spec. If an earlier restore has left the annotation, remove it before the first step and print the plan again", traffic.SuspendAnnotation)
	}
	r.warnOfOrigin(warn)
	r.warnOfAlarms(warn)
	r.warnOfUnsaved(warn)
	r.warnOfRevisions(warn)
	r.warnOfAPIServers(warn)
	r.warnOfOthers(warn)
	if r.NodesUnread {
		warn("you may not read nodes: make sure that no member runs on a node that is cut off, since it would go on as the old cluster")
	}
	r.warnOfAbsent(warn)
	r.warnOfHosts(warn)
	r.warnOfRoom(warn)
	if r.comparable() {
		warn("everything written after revision %d is lost", r.Snapshot.Revision)
	} else {
		warn("all data that the members have now is replaced by that of the snapshot")
	}
	return out
}

// warnOfOthers warns of members that the restored cluster doesn't have, and of those that --abort can't start.
func (r Plan) warnOfOthers(warn func(format string, args ...any)) {
	if left := r.leftClaims(); len(left) > 0 {
		warn("the restored cluster has %s, and the old one had %d: the claims of the others are deleted at the end (%s), because they would start as the old cluster if the StatefulSet got more replicas. Their volumes stay, as PersistentVolumes that are Released",
			policy.Count(len(r.Members), "member"), r.OldSize, policy.List(left))
	}
	if r.OneByOne && r.Owner.Replicas > 1 {
		warn("the members start one after the other, and the first is Ready only with a quorum: after they have stopped, --abort can't start the others. How to start them: %s", r.plugin("check %s --only W009", r.Target()))
	}
}

// warnOfAuthentication warns of users and permissions that differ after the restore.
func (r Plan) warnOfAuthentication(warn func(format string, args ...any)) {
	const open = "after the restore, each client that reaches a member may read and write all"
	switch {
	case r.Snapshot.Auth:
		warn("authentication was on: after the restore, users have the passwords of that time")
	case r.Authentication == etcd.AuthenticationOn:
		warn("authentication is on now, and off in the snapshot: %s", open)
	case r.Authentication == "" && !r.Saved:
		warn("authentication is off in the snapshot, and it is not known whether it is on now: %s", open)
	}
}

// warnOfRevisions warns of clients that don't notice the restore.
func (r Plan) warnOfRevisions(warn func(format string, args ...any)) {
	if r.Bump > 0 && r.Newest == 0 {
		warn("no member reported which revision clients have seen: those that have seen %d or more don't notice the restore. For those, set a higher --bump-revision", r.restored())
	}
	if r.Bump == 0 {
		warn("without a higher revision, clients that watch don't notice the restore: restart all of them")
	}
}
