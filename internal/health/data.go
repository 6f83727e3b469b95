// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/maintenance"
)

func dataChecks() []Check { return slices.Concat(databaseChecks(), volumeChecks()) }

// databaseChecks judge the databases of the members.
func databaseChecks() []Check {
	return []Check{
		{
			ID: "D001", Category: Data, Title: "no alarm is raised",
			Doc:  "NOSPACE means that a member's database has reached its quota. The cluster refuses all writes until the alarm is disarmed. CORRUPT means that a member's data differs from the data of the others. The check also fails if a member reports any other error.",
			Cure: "For NOSPACE, run kubectl etcd defrag NAME: it compacts, defragments, verifies and disarms. For CORRUPT, replace the member that differs, and only then disarm. D004 shows which member differs.",
			run:  alarms, needs: NeedMembers,
		},
		{
			ID: "D002", Category: Data, Title: "databases are well below their quota",
			Doc:  fmt.Sprintf("The check compares the size of each member's database with its quota. It warns at %d %% and fails at %d %%. At 100 %%, the cluster refuses all writes.", QuotaWarn, failFull),
			Cure: fmt.Sprintf("If much of the database is free (D003), defragment. Otherwise, find out what fills the database, and raise the quota. The default is %d GiB, and etcd advises at most %d GiB.", defaultQuota>>30, policy.AdvisedQuota>>30),
			run:  quotaUse, needs: NeedMembers,
		},
		{
			ID: "D003", Category: Data, Title: "databases are not mostly free space",
			Doc:  fmt.Sprintf("A compaction frees pages within the file. Only a defragmentation makes the file smaller. The check warns if more than half of a database of %d MiB or more is free.", minDBSize>>20),
			Cure: "Defragment one member at a time, the leader last. A member answers no requests while it defragments.",
			run:  fragmentation, needs: NeedMembers,
		},
		{
			ID: "D004", Category: Data, Title: "all voters hold the same data",
			Doc:  fmt.Sprintf("Each voter computes a hash over all keys at one revision, after the same compaction. Different hashes mean corruption. Learners refuse to answer. A hash reads the whole database, so for a database above %d GiB the check runs only with --hash-large.", maintenance.HashLimit>>30),
			Cure: "Replace the members that differ from the majority. If the volume of such a member is older than the volumes of the majority, the majority may have started again without its data. Save a snapshot of that member first, and replace it with --force only if you don't need its data. If no hash has a majority of the voters, save a snapshot of every member first, and compare them.",
			run:  hashes, needs: NeedMembers | NeedHashes | NeedClaims,
		},
		{
			ID: "D005", Category: Data, Title: "old revisions are compacted",
			Doc:  "etcd keeps every revision until it is compacted. Kubernetes API servers compact automatically. Most other clients don't, and the database grows until NOSPACE.",
			Cure: "If no client compacts, set --auto-compaction-mode=periodic --auto-compaction-retention=1h, or the same in etcd's configuration file, beside which etcd ignores flags.",
			run:  autoCompaction, eachPart: true,
		},
	}
}

// volumeChecks judge where the data is, and whether it is that from before.
func volumeChecks() []Check {
	return []Check{
		{
			ID: "D006", Category: Data, Title: "data is on persistent volumes",
			Doc:  "If a member's data is in an emptyDir, the data is lost when the pod is created again, and the member must be replaced. If a quorum of members loses its data, the data of the cluster is lost. A hostPath ties the member to its node, and Kubernetes doesn't know that.",
			Cure: "Put the data of each member on a volume claim. A StatefulSet can't get claim templates later: create another one, and restore a snapshot of the present one into it.",
			run:  persistent, eachPart: true,
		},
		{
			ID: "D007", Category: Data, Title: "the quota fits the volume",
			Doc:  "If the volume is smaller than the quota, the disk is full before NOSPACE protects it, and etcd crashes. Snapshots and the write-ahead log need space, too.",
			Cure: "Enlarge the claims. If the database stays well below a lower quota, lower --quota-backend-bytes instead.",
			run:  quotaFits, needs: NeedMembers | NeedClaims,
		},
		{
			ID: "D008", Category: Data, Title: "volumes have room",
			Doc:  fmt.Sprintf("The check reads from the kubelets how full the members' volumes are. It needs permission to get nodes/proxy, and kubelets don't measure every volume. It warns at %d %% and fails at %d %%. A full disk stops etcd, and a member that can't write its log doesn't start again.", QuotaWarn, failFull),
			Cure: "Enlarge the claims. If D003 reports free space, you can defragment instead.",
			run:  volumesFill, needs: NeedVolumes | NeedClaims,
		},
		{
			ID: "D009", Category: Data, Title: "disks are fast enough",
			Doc:  fmt.Sprintf("The check reads the 99th percentile of the time that etcd takes to sync its log (%.0f ms is good) and to commit to its database (%.0f ms is good), since each process started. It warns at %d times these values, because elections become likely.", 1000*goodSync, 1000*goodCommit, slowWarn),
			Cure: "Use a storage class with faster disks or with less shared disks.",
			run:  diskLatency, needs: NeedMembers | NeedMetrics,
		},
		{
			ID: "D010", Category: Data, Title: "the members have the earlier data",
			Doc:  fmt.Sprintf("If the data of a quorum is lost while another voter is frozen or cut off, the members may begin an empty cluster with the same cluster ID and the same member IDs. The check fails if a voter that does not answer has never started in the log of the members that answer, and its etcd has run for at least %.0f minutes longer than theirs. The check warns if such a voter has a volume that is at least as much older than theirs, whether or not its etcd runs: the volume may have the earlier data.", owner.RanLonger.Minutes()),
			Cure: "Don't restart, replace or remove that voter, and delete no pod, claim or volume of it. Keep clients from writing, and copy its data directory before it runs again: etcd then keeps one of the two logs.",
			run:  dataBefore, needs: NeedMembers,
		},
	}
}

func alarms(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	var found []Finding
	for _, m := range f.Responding() {
		for _, alarm := range m.Alarms {
			switch alarm {
			case "NOSPACE":
				found = append(found, f.noSpace(m))
			case "CORRUPT":
				found = append(found, about(Failure, m.Pod, f.Command("check", "--only D004"), "alarm CORRUPT: its data differs from the others'"))
			default:
				found = append(found, about(Failure, m.Pod, f.Command("alarm list"), "alarm %s", alarm))
			}
		}
		if len(m.Alarms) == 0 && m.LeaderID != 0 && len(m.Errors) > 0 {
			sick := about(Failure, m.Pod, f.kubectl("logs "+m.Pod+" --tail 50"), "reports an error: %s", strings.Join(m.Errors, "; "))
			sick.Reason = policy.MemberDown
			found = append(found, sick)
		}
	}
	for _, a := range f.Survey.Value.Strays {
		cure := f.Command(strayCure(a))
		if a.Type == maintenance.NoSpace {
			cure = f.defrag()
		}
		found = append(found, failure(cure, "%s of %s is in force: the cluster refuses all writes", a.Type, a.Where()))
	}
	return found
}

// noSpace returns the finding about a member that is out of space. A defragmentation frees what old
// revisions use, and nothing of live data.
func (f *Facts) noSpace(m etcd.Member) Finding {
	if f.liveData(m) {
		return about(Failure, m.Pod, "delete keys, or "+f.restarting(f.changeFlag("raise --quota-backend-bytes", "raise FIELD", flavour.Quota))+"; then "+f.defrag(),
			"alarm NOSPACE: the cluster refuses all writes, and old revisions are compacted: a defragmentation alone frees nothing (%s)", f.used(m))
	}
	return about(Failure, m.Pod, f.defrag(), "alarm NOSPACE: the cluster refuses all writes until space is freed and the alarm disarmed (%s)", f.used(m))
}

// liveShare is the part of the keys, one in so many, that old revisions may be at most where a
// compaction counts as freeing nothing.
const liveShare = 20

// liveData reports whether a member's database is full of live data: nearly all of it is in use,
// and its metrics show that nearly no old revision is left to compact.
func (f *Facts) liveData(m etcd.Member) bool {
	got, has := f.Metrics[m.Pod]
	if !has || got.Err != nil || m.DBSizeInUse < m.DBSize/liveShare*(liveShare-1) {
		return false
	}
	keys, hasKeys := value(got.Value, "etcd_debugging_mvcc_keys_total")
	current, hasCurrent := value(got.Value, "etcd_debugging_mvcc_current_revision")
	compacted, hasCompacted := value(got.Value, "etcd_debugging_mvcc_compact_revision")
	return hasKeys && hasCurrent && hasCompacted && (current-compacted)*liveShare <= keys
}

// strayCure returns the command for the alarm of a member that is gone or not named.
func strayCure(a etcd.Alarm) string {
	switch {
	case a.Type == maintenance.NoSpace:
		return "defrag"
	case !a.Gone: // it isn't known yet which member's data differ
		return "check --only D004"
	}
	return "alarm disarm"
}

// minDBSize is the size of a database below which a defragmentation is not worth its
// pause.
const minDBSize = 100 << 20

func fragmentation(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	var found []Finding
	for _, m := range f.Responding() {
		if free := m.DBSize - m.DBSizeInUse; m.DBSize >= minDBSize && free > m.DBSize/2 {
			found = append(found, about(Warning, m.Pod, f.defrag(), "%d %% of its database is free: %s of %s", Percent(free, m.DBSize), policy.Bytes(free), policy.Bytes(m.DBSize)))
		}
	}
	return found
}

func autoCompaction(f *Facts) []Finding {
	if f.Owner.Product().ServesKubernetes {
		return notApplicable("Kubernetes API servers compact their stores themselves")
	}
	pod, found := f.inspectedPod()
	if pod == nil {
		return found
	}
	switch retention, err := f.retention(pod); {
	case err != nil:
		return []Finding{unknown("--auto-compaction-retention", err)}
	case retention == "" || retention == "0":
		return []Finding{info(f.changeFlags("set --auto-compaction-mode=periodic --auto-compaction-retention=1h", "set FIELD", flavour.Compaction), "no --auto-compaction-retention is set: unless a client compacts, the database grows until NOSPACE")}
	}
	return nil
}

func persistent(f *Facts) []Finding {
	pod, found := f.inspectedPod()
	if pod == nil {
		return found
	}
	dir := f.dataDir(pod)
	switch {
	case dir == "" && len(f.Pods.Value) == 0:
		return notApplicable("no member runs, so it is not known where the data is")
	case dir == "":
		return []Finding{{Level: Unknown, Message: "the configuration doesn't show where the data is"}}
	}
	volume, mounted := volumeAt(pod, dir)
	fix := f.change("put the data of each member on a volume claim", "")
	if f.writable() { // it can't get claim templates later
		fix = "create another StatefulSet with a volume claim template for the data, and restore a snapshot of this one into it: " + f.Command("snapshot save", "FILE") +
			", then kubectl etcd snapshot restore FILE statefulset/NEW -n " + f.Owner.Namespace + f.Flags
	}
	switch {
	case !mounted:
		return []Finding{warning(fix, "%s is in the container's own file system: a restart loses it", dir)}
	case volume.EmptyDir != nil && volume.EmptyDir.Medium == corev1.StorageMediumMemory:
		return []Finding{warning(fix, "%s is in memory (emptyDir %s): it is lost when the pod is created again", dir, volume.Name)}
	case volume.EmptyDir != nil:
		return []Finding{warning(fix, "%s is in emptyDir %s: it is lost when the pod is created again", dir, volume.Name)}
	case volume.HostPath != nil && static(pod):
		return notApplicable("%s is in hostPath %s, and a static pod never leaves its node", dir, volume.HostPath.Path)
	case volume.HostPath != nil:
		return []Finding{warning(fix, "%s is in hostPath %s: on another node the member does not have it", dir, volume.HostPath.Path)}
	}
	return nil
}

func volumesFill(f *Facts) []Finding {
	switch {
	case f.Fill.Err != nil:
		return []Finding{unknown("the kubelets' measurements", f.Fill.Err)}
	case len(f.Fill.Value) == 0:
		return notApplicable("the kubelets measure none of the members' volumes")
	}
	var found []Finding
	most := 0
	for _, v := range f.Fill.Value {
		used, what := Percent(v.Used, v.Capacity), fmt.Sprintf("%s of %s", policy.Bytes(v.Used), policy.Bytes(v.Capacity))
		if inodes := Percent(v.InodesUsed, v.InodesOf); inodes > used {
			used, what = inodes, fmt.Sprintf("%d of %d inodes", v.InodesUsed, v.InodesOf)
		}
		most = max(most, used)
		report := warning
		if used >= failFull {
			report = failure
		}
		if used >= QuotaWarn {
			found = append(found, report(f.kubectl("edit pvc "+v.Claim), "the volume of %s is %d %% full: %s", v.Claim, used, what))
		}
	}
	if len(found) > 0 {
		return found
	}
	return ok("at most %d %% full", most)
}
