// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

func versionChecks() []Check {
	return []Check{
		{
			ID: "V001", Category: Versions, Title: "all members run one version",
			Doc:  "Members of two patch versions work together. Members of two minor versions work together only during an upgrade. Members of three minor versions don't work together.",
			Cure: "Finish the rollout. If the StatefulSet has the strategy OnDelete or a partition, it doesn't update the pods automatically: the finding has the command of W010. If all pods have the current template, name one version of the image in it.",
			run:  oneVersion, needs: NeedMembers,
		},
		{
			ID: "V002", Category: Versions, Title: "no member runs a version with a known fault",
			Doc:  "Some versions of etcd can lose or corrupt data, as the etcd project has announced. If a fault concerns only clusters with authentication, the check reports it as information.",
			Cure: "Update to the newest patch version of the same minor version.",
			run:  knownFaults, needs: NeedMembers,
		},
		{
			ID: "V003", Category: Versions, Title: "the way to the next minor version is clear",
			Doc:  "The check reports what would make the next upgrade fail. etcd 3.6 may bring back removed members from data that a version before 3.5.26 wrote. etcd 3.7 doesn't start with a flag or variable that has experimental in its name.",
			Cure: "On 3.5, update all members to 3.5.26 or newer, and let them run before you upgrade to 3.6. On 3.6, rename or remove the experimental settings before you upgrade to 3.7.",
			run:  upgradeTraps, needs: NeedMembers, eachPart: true,
		},
		{
			ID: "V004", Category: Versions, Title: "the members' clocks agree",
			Doc:  "The check reads each member's clock from the Date header of its own HTTP answers. The time that the answer takes is the error of the measurement. etcd itself warns if clocks differ by 1 s or more. Leases, certificates and backups depend on clocks.",
			Cure: "Repair the time synchronisation of the node that the finding names.",
			run:  clockSkew, needs: NeedMembers | NeedClocks,
		},
	}
}

func (f *Facts) versions() map[string][]string {
	by := map[string][]string{}
	for _, m := range f.Responding() {
		by[m.Version] = append(by[m.Version], m.Pod)
	}
	return by
}

func oneVersion(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	by := f.versions()
	names := slices.SortedFunc(maps.Keys(by), func(a, b string) int {
		switch x, y := etcd.Release(a), etcd.Release(b); {
		case x.LessThan(y):
			return -1
		case y.LessThan(x):
			return 1
		}
		return strings.Compare(a, b)
	})
	if len(names) == 1 {
		return ok("%s", names[0])
	}
	var parts []string
	for _, v := range names {
		parts = append(parts, v+" on "+policy.List(by[v]))
	}
	lowest, highest := etcd.Release(names[0]), etcd.Release(names[len(names)-1])
	fix, what := f.finishUpdate(), strings.Join(parts, ", ")
	switch {
	case lowest.Major() != highest.Major() || highest.Minor()-lowest.Minor() > 1:
		return []Finding{failure(fix, "%s: members may be one minor version apart at most", what)}
	case f.operation() != "":
		return []Finding{info("", "%s: %s", what, f.operation())}
	case f.Cluster.Err != nil:
		return []Finding{unknown(what+", and it is not known whether a rollout is under way", f.Cluster.Err)}
	}
	return []Finding{warning(fix, "%s, and no rollout is under way", what)}
}

// finishUpdate returns how to give all members one version: the fix of the first StatefulSet whose rollout is left
// half-way, or the command that shows one that continues. If all pods have the current template, an image differs.
func (f *Facts) finishUpdate() string {
	if f.Owner.StatefulSet == "" {
		return f.change("finish the update", "")
	}
	for _, part := range f.eachPart() {
		for _, left := range halfRollout(part) {
			switch {
			case left.Level == Info && left.Fix == "":
				return f.kubectl("rollout status statefulset " + part.Owner.StatefulSet)
			case left.Level == Info || left.Level == Warning:
				return left.Fix
			}
		}
	}
	const order = "give all members one version of the image"
	return f.changeTemplate(order, order+" by FIELD, or with "+f.Owner.Membership().ManagerName, flavour.Image)
}

// fault is what is wrong with the versions from one up to, and without, another.
type fault struct {
	from, fixed string
	// only restricts it: "single" to clusters of one member, "auth" to those
	// with authentication, which is not checked.
	only string
	what string
}

// faults are the versions to leave, each with its source.
var faults = []fault{
	// https://github.com/etcd-io/etcd/issues/13766 and the post-mortem in
	// Documentation/postmortems/v3.5-data-inconsistency.md.
	{"3.5.0", "3.5.3", "", "members' data may differ after a crash under load (etcd issue 13766)"},
	// https://github.com/etcd-io/etcd/issues/14685, CHANGELOG-3.5 under v3.5.6.
	{"3.5.0", "3.5.6", "", "members' data may differ after a crash during a defragmentation (etcd issue 14685)"},
	// https://github.com/etcd-io/etcd/issues/14370, CHANGELOG-3.4 under v3.4.21
	// and CHANGELOG-3.5 under v3.5.5.
	{"3.4.0", "3.4.21", "single", "a single member may lose an acknowledged write in a crash (etcd issue 14370)"},
	{"3.5.0", "3.5.5", "single", "a single member may lose an acknowledged write in a crash (etcd issue 14370)"},
	// CHANGELOG-3.5 under v3.5.6 ("data consistency issue caused by recovery
	// from snapshot"), announced for 3.4.20, 3.4.21 and 3.5.5.
	{"3.4.20", "3.4.22", "auth", "with authentication, a new member's data may differ (etcd pull request 14648)"},
	{"3.5.5", "3.5.6", "auth", "with authentication, a new member's data may differ (etcd pull request 14648)"},
	// https://github.com/etcd-io/etcd/issues/19557.
	{"3.5.1", "3.5.20", "", "the promotion of a learner is not kept and fails an upgrade to 3.6 (etcd issue 19557)"},
	// https://github.com/advisories/GHSA-q8m4-xhhv-38mg.
	{"3.4.0", "3.4.42", "auth", "with authentication, several calls go unchecked (CVE-2026-33413)"},
	{"3.5.0", "3.5.28", "auth", "with authentication, several calls go unchecked (CVE-2026-33413)"},
	{"3.6.0", "3.6.9", "auth", "with authentication, several calls go unchecked (CVE-2026-33413)"},
}

func knownFaults(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	var found []Finding
	by := f.versions()
	for _, runs := range slices.Sorted(maps.Keys(by)) {
		r, err := version.ParseGeneric(runs)
		if err != nil {
			found = append(found, info("", "%s runs %q, which is not a release", policy.List(by[runs]), runs))
			continue
		}
		for _, bad := range faults {
			if !r.AtLeast(etcd.Release(bad.from)) || r.AtLeast(etcd.Release(bad.fixed)) || bad.only == "single" && f.voters().total > 1 {
				continue
			}
			report := warning
			if bad.only == "auth" {
				report = info
			}
			order := fmt.Sprintf("update to %s or a newer patch version", bad.fixed)
			fix := f.changeTemplate(order, order+" by FIELD, or with "+f.Owner.Membership().ManagerName, flavour.Image)
			found = append(found, report(fix, "%s on %s: %s", runs, policy.List(by[runs]), bad.what))
		}
	}
	return found
}

func upgradeTraps(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	var found []Finding
	by := f.versions()
	for _, runs := range slices.Sorted(maps.Keys(by)) {
		r := etcd.Release(runs)
		switch {
		case r.Major() == 3 && r.Minor() == 5 && r.Patch() < 26:
			// https://etcd.io/blog/2025/zombie_members_upgrade/
			found = append(found, info(f.changeTemplate("update to 3.5.26 or newer before 3.6", "update to 3.5.26 or newer before 3.6 by FIELD, or with "+f.Owner.Membership().ManagerName, flavour.Image), "%s on %s: an upgrade to 3.6 from here may bring removed members back", runs, policy.List(by[runs])))
		case r.Major() == 3 && r.Minor() == 6:
			if names := f.experimental(); len(names) > 0 {
				found = append(found, info(f.changeTemplate("rename or drop them before 3.7", ""), "etcd 3.7 does not start with %s", policy.List(names)))
			}
		}
	}
	return found
}

// experimental returns the experimental settings in the members' pods.
func (f *Facts) experimental() []string {
	pod := f.member()
	if pod == nil {
		return nil
	}
	var names []string
	c := etcdContainer(pod)
	if c == nil {
		return nil
	}
	for _, w := range arguments(c) {
		if flag, _, _ := strings.Cut(w, "="); strings.HasPrefix(flag, "--experimental-") {
			names = append(names, flag)
		}
	}
	for _, e := range c.Env {
		if strings.HasPrefix(e.Name, "ETCD_EXPERIMENTAL_") {
			names = append(names, e.Name)
		}
	}
	return names
}

// How far clocks may be apart. etcd warns from 1 s on (etcd,
// server/etcdserver/api/rafthttp/probing_status.go); 30 s are what this project
// tolerates where it must compare the clocks of two machines.
const (
	warnSkew = time.Second
	failSkew = 30 * time.Second
)

// reading is the clock of one member.
type reading struct {
	pod string
	etcd.ClockReading
}

func clockSkew(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	var all []reading
	var found []Finding
	for _, m := range f.Responding() {
		switch got, has := f.Clocks[m.Pod]; {
		case !has:
		case got.Err != nil:
			found = append(found, unknown("the clock of "+m.Pod, got.Err))
		default:
			all = append(all, reading{m.Pod, got.Value})
		}
	}
	gap, behind, ahead := widest(all)
	args := []any{ahead, format.Age(gap), behind}
	const text, fix = "the clock of %s is at least %s ahead of that of %s", "repair the time synchronisation of their nodes"
	switch {
	case gap >= failSkew:
		return append(found, failure(fix, text, args...))
	case gap >= warnSkew:
		return append(found, warning(fix, text, args...))
	case len(found) > 0 || len(all) == 0:
		return found
	}
	margin := time.Duration(0)
	for _, c := range all {
		// Against this machine's clock, which may be the wrong one.
		if c.Least > failSkew || c.Most < -failSkew {
			return []Finding{info("", "the members' clocks agree, and are %s off this machine's", format.Age(c.Least+(c.Most-c.Least)/2))}
		}
		margin = max(margin, c.Most-c.Least)
	}
	return ok("to within the %s of the measurement", format.Age(margin))
}

// widest is by how much two clocks surely differ, the most that any two do: the
// gap between what both may show.
func widest(all []reading) (gap time.Duration, behind, ahead string) {
	for _, x := range all {
		for _, y := range all {
			if apart := y.Least - x.Most; apart > gap {
				gap, behind, ahead = apart, x.pod, y.pod
			}
		}
	}
	return gap, behind, ahead
}
