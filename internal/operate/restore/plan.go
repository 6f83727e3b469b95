// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// DefaultBump is by how much a restore raises the revision, so that it is above
// any that a client has seen: clients that watch notice and read anew, instead of
// waiting for a revision that comes again with other content.
const DefaultBump = 1_000_000_000

// Plan is what a plan to restore a snapshot is made from. It is read only.
type Plan struct {
	// File is the snapshot as the user names it.
	File     string
	Snapshot snapshot.File
	// Bump is by how much the revision is raised, 0 for not at all.
	Bump int64
	// Owner and Members are where it goes.
	Owner   observe.Owner
	Members []Member
	// Etcd is the version that the members run, as 3.6.5; empty where it isn't known.
	Etcd string
	// Files is what each pod mounts, with podMark for the pod's name.
	Files Files
	// OneByOne says that members only start when the one before is ready, which
	// it never is without a quorum.
	OneByOne bool
	// DeletesClaims says that the StatefulSet deletes the claims when it scales in.
	DeletesClaims bool
	// Gone are the claims of the members that are not there: their data is lost with them.
	Gone []string
	// Unbound are those that are there, and have no volume yet.
	Unbound []string
	// RestartsFromSnapshot says that a start script replaces data by its own last snapshot where
	// the members don't answer.
	RestartsFromSnapshot bool
	// Newest is the highest revision that a member told of, 0 where none did.
	Newest int64
	// Answers says that a member does, so that there is something to save before.
	Answers bool
	// List are the members as one of them told, nil where none did.
	List []etcd.Listed
	// ClientPort is where members listen for clients, 0 where that isn't known.
	ClientPort int
	// Clients says that clients have a Service of their own, which can be cut; Uncut is
	// why it can't be, where they have one.
	Clients bool
	Uncut   string
	// Druid has what only druid's clusters have, nil for others.
	Druid *Druid
	// Flags are those of the printed commands.
	Flags step.Flags
	// At is when the plan is made.
	At time.Time
}

// Member is one member that the restored cluster has.
type Member struct {
	Pod, Name, PeerURL string
}

// Files is where a member's data is.
type Files struct {
	DataDir, WALDir string
	// Claims are the names of the claims, with podMark for the pod's.
	Claims []string
	// Manifest is a pod that mounts them; empty where one isn't on a claim: UnmountedDataDir.
	Manifest, UnmountedDataDir string
	// Image is that of this pod. UserUnknown says that its user need not be the members'.
	Image       string
	UserUnknown bool
}

// dirs are those that there are. Without WALDir the log is in DataDir.
func (f Files) dirs() []string {
	if f.WALDir == "" {
		return []string{f.DataDir}
	}
	return []string{f.DataDir, f.WALDir}
}

// Steps is what to do, in order, and what to know before. It fails where
// this cluster is restored in another way altogether, and says how.
func Steps(r Plan) (steps []step.Step, warnings []string, err error) {
	if err := r.refusal(); err != nil {
		return nil, nil, err
	}
	if r.Druid != nil {
		return r.druid(), r.warnings(), nil
	}
	return r.statefulSet(), r.warnings(), nil
}

func (r Plan) warnings() []string {
	var said []string
	say := func(format string, args ...any) { said = append(said, fmt.Sprintf(format, args...)) }
	if !r.Snapshot.Hashed {
		say("%s has no hash at its end: it is a copy of a member's own database, which may have changed while it was copied", r.File)
	}
	if have, want := minor(r.Snapshot.StorageVersion), minor(r.Etcd); have > want && want > 0 {
		say("the snapshot has the format of etcd %s, and the members run %s, which doesn't read it", r.Snapshot.StorageVersion, r.Etcd)
	}
	if r.Etcd == "" {
		say("which etcd the members run isn't known: the tool that restores must be of the same minor release")
	}
	if r.Snapshot.Auth {
		say("authentication was on: after the restore users have the passwords of then")
	}
	if m := r.Owner.Membership(); m.Manager == flavour.ByOperator && r.Druid == nil {
		say("%s writes the StatefulSet: stop it before the first step, or it starts members half way", m.ManagerName)
	}
	if r.Files.UserUnknown {
		say("the members run as the user of their image, since no runAsUser says another, and the pods beside the volumes as that of %s: members may not be able to read what these write. Set runAsUser in StatefulSet %s before the first step, or name a --helper-image with the same user",
			r.Files.Image, r.Owner.StatefulSet)
	}
	if r.Druid != nil && traffic.Suspended(r.Owner) {
		say("annotation %s keeps etcd-druid from acting on it: it is taken away for the other members to be made, so druid also acts on whatever else has changed in its spec, and put back in the end. If an earlier restore left it there, remove it before the first step and print the plan again", traffic.SuspendAnnotation)
	}
	if names := r.foreignMembers(); names != "" {
		say("none of the members that the snapshot was taken of (%s) is one of this cluster's: it looks like another cluster's data", names)
	}
	if r.Bump > 0 && r.Newest == 0 {
		say("no member told which revision clients have seen: those that have seen %d or more don't notice the restore; raise it further then, with --bump-revision", r.restored())
	}
	if r.Bump == 0 {
		say("without a higher revision, clients that watch don't notice the restore: restart all of them")
	}
	say("everything written after revision %d is lost", r.Snapshot.Revision)
	return said
}

// foreignMembers are the members that a snapshot was taken of, where neither an ID nor a peer
// URL is one of this cluster's; empty where one is, or nothing can be compared.
func (r Plan) foreignMembers() string {
	ours := map[string]bool{}
	for _, m := range r.Members {
		if m.PeerURL != "" {
			ours[m.PeerURL] = true
		}
	}
	for _, l := range r.List {
		ours[strconv.FormatUint(l.ID, 16)] = true
		for _, u := range l.PeerURLs {
			ours[u] = true
		}
	}
	var names []string
	for _, m := range r.Snapshot.Members {
		if len(m.PeerURLs) > 0 && !slices.ContainsFunc(m.PeerURLs, func(u string) bool { return !operate.Loopback(operate.HostOf(u)) }) {
			continue // etcdutl's default, and so in a snapshot that backup-restore has compacted
		}
		if ours[strconv.FormatUint(m.ID, 16)] || slices.ContainsFunc(m.PeerURLs, func(u string) bool { return ours[u] }) {
			return ""
		}
		names = append(names, cmp.Or(m.Name, strconv.FormatUint(m.ID, 16)))
	}
	if len(ours) == 0 {
		return ""
	}
	return strings.Join(names, ", ")
}

func (r Plan) check() step.Step {
	return step.Step{Title: "Check the snapshot", Acts: []step.Action{step.CheckSnapshot{File: r.File}}}
}

// restored is the revision that members begin at. The tool knows nothing of a revision whose
// content is gone: an empty snapshot is raised from 0, not from the 1 that etcd begins at.
func (r Plan) restored() int64 {
	if r.Bump == 0 {
		return r.Snapshot.Revision
	}
	return max(r.Snapshot.Revision, r.Snapshot.Written+r.Bump)
}

// end is what to do when the members run.
func (r Plan) end() []step.Step {
	why := fmt.Sprintf("The revision must be %d or more, and all members must have one cluster ID.", r.restored())
	steps := []step.Step{
		{Title: "Look whether it is well", Why: why, Acts: []step.Action{
			verb("status", r.target()), verb("check", r.target()),
		}},
	}
	clients := "Clients that watch, an API server for one, find their revision compacted and read everything anew. Restart those that keep revisions or leases of their own."
	if r.Bump == 0 {
		clients = "Clients still hold revisions from before: restart every one of them, API servers first."
	}
	last := step.Step{Title: "Let clients in", Why: clients}
	if r.Clients {
		last.Acts = []step.Action{verb("restore-client-traffic", r.target(), "-y")}
	}
	return append(steps, last)
}

func (r Plan) cut() step.Step {
	s := step.Step{Title: "Keep clients away", Why: "They have no Service of their own that could be cut: stop them themselves, until the last step."}
	if r.Uncut != "" {
		s.Why = fmt.Sprintf("cut-client-traffic is refused: %s. Stop the clients themselves, until the last step.", r.Uncut)
	}
	if r.Clients {
		s.Why = "For two hours; the same command again makes it longer. Open streams end with the members."
		s.Acts = []step.Action{verb("cut-client-traffic", r.target(), "--for", "2h", "--reason", "restore", "--allow-residual", "--detach", "-y")}
	}
	return s
}

// verb returns a command of kubectl etcd.
func verb(args ...string) step.Action { return step.Plugin{Args: args} }
