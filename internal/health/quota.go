// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"errors"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// defaultQuota is etcd's where none is set (etcd, server/storage/quota.go,
// DefaultQuotaBytes).
const defaultQuota = 2 << 30

// quota returns the quota of a member in bytes. A negative one is none at all. Before 3.6 only
// the metrics report it; where they can't be read, the configuration does.
func (f *Facts) quota(m etcd.Member) (int64, error) {
	got, has := f.Serving[m.Pod]
	switch {
	case m.Quota != 0:
		return m.Quota, nil
	case !has:
		return 0, errors.New("neither its metrics nor its configuration are known")
	case got.Err != nil:
		return 0, got.Err
	case got.Value.Unknown["quota-backend-bytes"] != "":
		return 0, errors.New(got.Value.Unknown["quota-backend-bytes"])
	case got.Value.QuotaBytes != 0:
		return got.Value.QuotaBytes, nil
	}
	return defaultQuota, nil
}

// used returns how much a member's database takes of its quota, as far as that is known.
func (f *Facts) used(m etcd.Member) string {
	quota, err := f.quota(m)
	if err != nil {
		return policy.Bytes(m.DBSize) + " used"
	}
	return fmt.Sprintf("%s used of a quota of %s", policy.Bytes(m.DBSize), policy.Bytes(quota))
}

// How full a database or a volume may be, in per cent. At 100 % of its quota etcd refuses
// all writes.
const (
	QuotaWarn = 80
	failFull  = 95
)

func quotaUse(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	var found []Finding
	most := 0
	for _, m := range f.Responding() {
		quota, err := f.quota(m)
		switch {
		case err != nil:
			found = append(found, unknown("the quota of "+m.Pod, err))
			continue
		case quota < 0:
			found = append(found, about(Warning, m.Pod, f.changeFlags("set --quota-backend-bytes", "set FIELD", flavour.Quota), "it has no quota: its database may fill the disk"))
			continue
		}
		used := Percent(m.DBSize, quota)
		most = max(most, used)
		if used < QuotaWarn {
			continue
		}
		level, fix := Warning, "find what fills it, or "+f.changeFlags("raise --quota-backend-bytes", "raise FIELD", flavour.Quota)
		if used >= failFull {
			level = Failure
		}
		if Percent(m.DBSizeInUse, quota) < QuotaWarn*3/4 && !f.liveData(m) {
			fix = f.defrag()
		}
		found = append(found, about(level, m.Pod, fix, "%d %% of its quota is used: %s of %s, %s of it in use", used, policy.Bytes(m.DBSize), policy.Bytes(quota), policy.Bytes(m.DBSizeInUse)))
	}
	if len(found) > 0 {
		return found
	}
	return ok("at most %d %%", most)
}

func quotaFits(f *Facts) []Finding {
	if found, reachable := f.membersReachable(); !reachable {
		return found
	}
	if f.Claims.Err != nil {
		return []Finding{unknown("the volume claims", f.Claims.Err)}
	}
	if len(f.Claims.Value) == 0 {
		return notApplicable("the members have no volume claims")
	}
	// Members are mostly alike: those with the same numbers make one finding.
	type short struct{ quota, room int64 }
	small := map[short][]etcd.Member{}
	var found []Finding
	for _, m := range f.Responding() {
		quota, err := f.quota(m)
		if err != nil {
			found = append(found, unknown("the quota of "+m.Pod, err))
			continue
		}
		room, err := f.room(m.Pod)
		switch {
		case err != nil:
			found = append(found, unknown("the volume of "+m.Pod, err))
		case room > 0 && quota > room:
			g := short{quota, room}
			small[g] = append(small[g], m)
		}
	}
	for g, members := range small {
		found = append(found, warning(f.enlarge(g.room, members), "the database may grow to %s and the volume holds %s: %s", policy.Bytes(g.quota), policy.Bytes(g.room), policy.List(pods(members))))
	}
	return found
}

// room returns what the claim holds that a pod's data is on, 0 where it is on none. A claim
// for the write-ahead log alone doesn't count.
func (f *Facts) room(name string) (int64, error) {
	pod := f.pod(name)
	if pod == nil {
		return 0, errors.New("its pod is not known")
	}
	dir := f.dataDir(pod)
	if dir == "" {
		return 0, errors.New("the configuration doesn't show where the data is")
	}
	volume, mounted := volumeAt(pod, dir)
	if !mounted || volume.PersistentVolumeClaim == nil {
		return 0, nil
	}
	for _, claim := range f.Claims.Value {
		if claim.Name == volume.PersistentVolumeClaim.ClaimName {
			return claim.Status.Capacity.Storage().Value(), nil
		}
	}
	return 0, nil
}

// enlarge returns how to give databases the room that their quota promises. A quota that
// they reach soon would stop all writes.
func (f *Facts) enlarge(room int64, members []etcd.Member) string {
	lower, largest := room/10*8, int64(0)
	for _, m := range members {
		largest = max(largest, m.DBSize)
	}
	if lower <= largest/4*5 {
		return "enlarge the claims"
	}
	return "enlarge the claims, or " + f.changeFlags(fmt.Sprintf("set --quota-backend-bytes=%d (80 %% of the volume)", lower), fmt.Sprintf("set FIELD to %d (80 %% of the volume)", lower), flavour.Quota)
}
