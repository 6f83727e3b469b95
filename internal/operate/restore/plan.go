// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"fmt"
	"strings"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/traffic"
	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

// DefaultBump is by how much a restore raises the revision, so that it is above each that a
// client has seen. Clients that watch notice this and read everything again, instead of
// waiting for a revision that comes again with other content.
const DefaultBump = 1_000_000_000

// Plan is the facts from which the steps of a restore are made. It is read only.
type Plan struct {
	// File is the snapshot, as the user named it.
	File     string
	Snapshot snapshot.File
	// Bump is by how much the revision is raised, 0 for not at all.
	Bump int64
	// Owner and Members are the cluster into which it is restored.
	Owner   owner.Owner
	Members []Member
	// Tool is the program that makes data directories: etcdutl, or etcdctl of etcd 3.4. It is empty for
	// the one in the PATH.
	Tool string
	// Etcd is the version of the members, as 3.6.5. It is empty if it isn't known.
	Etcd string
	// Files is what each pod mounts, with podMark for the pod's name.
	Files Files
	// Given is the path or URL of the snapshot as the user gave it. File may be a copy.
	Given string
	// OneByOne means that a member only starts when the one before is ready, which it never
	// is without a quorum.
	OneByOne bool
	// DeletesClaims means that the StatefulSet deletes the claims at a scale-in.
	DeletesClaims bool
	// Unmarked means that the journal has a restore of which the StatefulSet has no mark: it has not changed the
	// StatefulSet, or has ended.
	Unmarked bool
	// Unstopped means that the members of an unfinished restore may have come back and gone on with all of their data: it has
	// stopped no member yet, or Returned is true before it has changed any data.
	Unstopped bool
	// Returned means that another client has started members since the restore stopped them, although the next step needs
	// them stopped.
	Returned bool
	// Starter describes the client that set the replicas that the StatefulSet of an unfinished restore has. It is empty if it
	// has none. The restore itself may be that client. While the restore is undone, it is what its record has.
	Starter string
	// Gone are the claims of members that don't exist. Their data is lost.
	Gone []string
	// OldSize is the number of members of the old cluster, if claims of members are left that the restored cluster does not
	// have. It is 0 otherwise.
	OldSize int32
	// Ending are the claims that are being deleted and whose volumes stay without them. Their members get new claims.
	Ending []string
	// Leaving are the other claims that are being deleted. GoneSince are those that other clients have deleted since an
	// unfinished restore began.
	Leaving   []LeavingClaim
	GoneSince []string
	// Lost are the pods of members whose volumes are lost although their claims may exist. They get new
	// claims.
	Lost []string
	// Unbound are the claims that have no volume: none yet, or one that is gone.
	Unbound []string
	// RestartsFromSnapshot means that a start script replaces data by its own last snapshot if
	// the members don't answer.
	RestartsFromSnapshot bool
	// Newest is the highest revision that a member reported, 0 if none did.
	Newest int64
	// Answered are the pods of the members that answered.
	Answered []string
	// Database is the size of the largest database that a member reported, 0 if none did. Capacity is that of the claims
	// that are there, 0 for unknown. Both are in bytes.
	Database int64
	Capacity map[string]int64
	// Loss is what an unfinished restore loses, as its plan had it. It is empty before a restore has begun.
	Loss string
	// Answers means that a member answers, so that its data can be saved before.
	Answers bool
	// Saved means that the snapshot is the present data, that of the member with the pod Survivor.
	Saved    bool
	Survivor string
	// Read are the pods of the members that don't answer and whose data was read from their volumes.
	Read []string
	// Backup is the highest revision of the backups, if the snapshot is the present data and lacks it. It is 0 otherwise.
	Backup int64
	// Led means that a member that answers follows a leader, so that it has what the others have. Split means that
	// the members belong to several clusters.
	Led, Split bool
	// Singles means that each pod answers as an etcd of its own. Unlisted means that the pod template has no list of
	// members that would make one cluster of them.
	Singles, Unlisted bool
	// Silent are the members that run and don't answer. AllowUnsaved allows a restore that can't save their data.
	Silent       []Silent
	AllowUnsaved bool
	// Origin is the cluster that the record of the snapshot names. FromOther allows that it is another one.
	Origin    Origin
	FromOther bool
	// NotifyInterval is how often members send progress notifications to watches, 0 for unknown.
	NotifyInterval time.Duration
	// ClusterIDs are those that the members report, none if no member answers.
	ClusterIDs []string
	// Denied is why etcd refuses snapshots to the user, empty if it doesn't.
	Denied string
	// Authentication is whether the members have it enabled.
	Authentication etcd.Authentication
	// List is the member list from a member, nil if none answers.
	List []etcd.Listed
	// Others are the pods of other workloads that answer as members of the same etcd cluster.
	Others []string
	// ClientPort is where members listen for clients, 0 if it isn't known.
	ClientPort int
	// Clients means that clients have a Service of their own, which can be cut. Uncut is why
	// it can't be, if they have one.
	Clients bool
	Uncut   string
	// Before is a cut that another user made. The restore leaves it as it was.
	Before traffic.Before
	// Open are the clients' Services that were not cut before, if others were.
	Open []string
	// Druid is nil for a cluster that isn't druid's.
	Druid *Druid
	// Unreachable are members on nodes that are not Ready. NodesUnread means that nodes can't be read.
	Unreachable []Unreachable
	NodesUnread bool
	// Deleted are members on nodes that don't exist any more. Absent are the pods of members of which none shows where it
	// ran, and Suspects the nodes that are cut off on which they may have run.
	Deleted          []Unreachable
	Absent, Suspects []string
	// Hosts is where the members can start.
	Hosts Hosts
	// Flags are those of the printed commands.
	Flags step.Flags
	// Container is that of etcd in a member's pod.
	Container string
	// At is when the plan was made.
	At time.Time
	// recorded means that the number of members is that of an unfinished restore, whatever its owner has now.
	recorded bool
	// otherSource means that this command replaces the snapshot of an unfinished restore, which began with the one whose
	// SHA-256 is first.
	otherSource bool
	first       string
	// endingSince are claims that other clients have deleted since an unfinished restore began, and that pods still mount.
	endingSince []string
	// KeepFor is how long the user wants to keep the old data, 0 for no limit.
	KeepFor time.Duration
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
	// Manifest is a pod that mounts them. It is empty if UnmountedDataDir is on no claim.
	Manifest, UnmountedDataDir string
	// Try is a pod with the same image and no volumes.
	Try string
	// Image is the image of this pod. UserUnknown means that its user may not be that of the
	// members.
	Image       string
	UserUnknown bool
}

// ManifestOf returns the helper pod of a member's pod.
func (f Files) ManifestOf(pod string) string { return strings.ReplaceAll(f.Manifest, podMark, pod) }

// dirs returns the directories that exist. Without WALDir the log is in DataDir.
func (f Files) dirs() []string {
	if f.WALDir == "" {
		return []string{f.DataDir}
	}
	return []string{f.DataDir, f.WALDir}
}

// Steps returns the steps of a restore in their order, and the warnings about it. The error
// is why this cluster can't be restored by such a plan, and what to do instead.
func Steps(r Plan) (steps []step.Step, warnings []string, err error) {
	if err := r.refusal(); err != nil {
		return nil, nil, err
	}
	return r.steps(), r.warnings(), nil
}

func (r Plan) steps() []step.Step {
	if r.Druid != nil {
		return r.druid()
	}
	return r.statefulSet()
}

// cutBy returns who made the cut from before, as far as that is known.
func (r Plan) cutBy() string {
	if r.Before.Record == nil {
		return ""
	}
	by := " by " + format.PrintableLine(r.Before.Record.Holder)
	if why := format.PrintableLine(r.Before.Record.Reason); why != "" {
		by += " (" + why + ")"
	}
	return by
}

func (r Plan) check() step.Step {
	return step.Step{Title: "Check the snapshot", Acts: []step.Action{r.same()}}
}

// same checks the snapshot. A backup that runs meanwhile may have replaced the file.
func (r Plan) same() step.Action {
	return step.CheckSnapshot{File: r.File, SHA256: r.Snapshot.SHA256}
}

// restored returns the revision at which members begin. The tool ignores a revision whose
// content is gone: an empty snapshot is raised from 0, not from the 1 at which etcd begins.
func (r Plan) restored() int64 {
	if r.Bump == 0 {
		return r.Snapshot.Revision
	}
	return max(r.Snapshot.Revision, r.Snapshot.Written+r.Bump)
}

// end returns the steps after the members have started.
func (r Plan) end() []step.Step {
	why := fmt.Sprintf("The revision must be %d or more, and all members must have one cluster ID.", r.restored())
	title := "Check the cluster"
	if r.disarms() {
		title += fmt.Sprintf(", and disarm %s if there is room", maintenance.NoSpace)
		why += fmt.Sprintf(" If the alarm can't be disarmed, free space: %s.", r.plugin("defrag %s", r.Target()))
	}
	unready := r.disarms() && r.Druid == nil
	acts := []step.Action{step.Agree{Target: r.Target(), Size: len(r.into()), Revision: r.restored(), Disarm: r.disarms(), Unready: unready}}
	if unready {
		acts = append(acts, r.awaitReadyAgain())
	}
	steps := []step.Step{{Title: title, Why: why, Uses: []string{keptAway}, Acts: acts}}
	clients := "Clients that watch, such as an API server, find their revision compacted and read everything again. Restart clients that store revisions or leases."
	if r.Bump == 0 {
		clients = "Clients still have old revisions: restart all of them, API servers first."
	}
	return append(steps, r.letIn(clients))
}

// letIn returns the step that lets clients in, or leaves the cut that another user made.
func (r Plan) letIn(why string) step.Step {
	s := step.Step{ID: letIn, Final: true, Title: "Let clients in", Why: why}
	if !r.Clients {
		return s
	}
	s.Acts = []step.Action{step.RestoreTraffic{Target: r.Target(), Ends: r.Before.Ends, Open: r.Open}}
	if r.isCut() {
		s.Title = "Leave client traffic cut, as before"
		s.Why = strings.TrimSpace(fmt.Sprintf("It was cut until %s before the restore. %s", format.Time(r.Before.Until()), why))
	}
	return s
}

// isCut reports whether client traffic was cut before the restore.
func (r Plan) isCut() bool { return len(r.Before.Ends) > 0 }

// cutLength is how long clients are kept away at most. The steps rarely take as long.
const cutLength = owner.RestoreTime

func (r Plan) cut() step.Step {
	s := step.Step{ID: keptAway, Title: "Keep clients away", Why: "They have no Service of their own that could be cut: stop the clients themselves until the last step."}
	if r.Uncut != "" {
		s.Why = fmt.Sprintf("cut-client-traffic is refused: %s. Stop the clients themselves until the last step.", r.Uncut)
	}
	if r.Clients {
		s.Why = "The cut lasts two hours. To extend it, run the command again. Open streams end with the members."
		// Whole seconds, up: no cut from before ends earlier.
		length := max(cutLength, r.Before.Until().Sub(r.At).Truncate(time.Second)+time.Second)
		if length > cutLength {
			s.Why = "It is cut already, for longer than the restore takes. Open streams end with the members."
		}
		s.Acts = []step.Action{step.CutTraffic{Target: r.Target(), Length: min(length, traffic.LongestCut)}}
	}
	return s
}

// verb returns a command of kubectl etcd.
func verb(args ...string) step.Action { return step.Plugin{Args: args} }
