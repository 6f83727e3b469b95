// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"errors"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// defaultQuota is etcd's where none is set (etcd, server/storage/quota.go,
// DefaultQuotaBytes).
const defaultQuota = 2 << 30

// quota is a member's in bytes. A negative one is none at all. Before 3.6 a member's
// metrics alone tell it; where they can't be had, its configuration does.
func (f *Facts) quota(m etcd.Member) (int64, error) {
	got, has := f.Serving[m.Pod]
	switch {
	case m.Quota != 0:
		return m.Quota, nil
	case !has:
		return 0, errors.New("neither its metrics nor its configuration are known")
	case got.Err != nil:
		return 0, got.Err
	case got.Value.QuotaBytes != 0:
		return got.Value.QuotaBytes, nil
	}
	return defaultQuota, nil
}

// used is how much a member's database takes of its quota, as far as that is known.
func (f *Facts) used(m etcd.Member) string {
	quota, err := f.quota(m)
	if err != nil {
		return bytes(m.DBSize) + " used"
	}
	return fmt.Sprintf("%s used of a quota of %s", bytes(m.DBSize), bytes(quota))
}

// How full is too full, in per cent.
const (
	warnFull = 80
	failFull = 95
)

func quotaUse(f *Facts) []Finding {
	if found, asked := f.asked(); !asked {
		return found
	}
	var found []Finding
	most := 0
	for _, m := range f.answering() {
		quota, err := f.quota(m)
		switch {
		case err != nil:
			found = append(found, unknown("the quota of "+m.Pod, err))
			continue
		case quota < 0:
			found = append(found, warning(f.change("set --quota-backend-bytes", "set spec.etcd.quota"), "%s has no quota: its database may fill the disk", m.Pod))
			continue
		}
		used := percent(m.DBSize, quota)
		most = max(most, used)
		if used < warnFull {
			continue
		}
		say, fix := warning, "find what fills it, or "+f.change("raise --quota-backend-bytes", "raise spec.etcd.quota")
		if used >= failFull {
			say = failure
		}
		if percent(m.DBSizeInUse, quota) < warnFull*3/4 {
			fix = f.cmd("defrag")
		}
		found = append(found, say(fix, "%s uses %d %% of its quota: %s of %s, %s of it in use", m.Pod, used, bytes(m.DBSize), bytes(quota), bytes(m.DBSizeInUse)))
	}
	if len(found) > 0 {
		return found
	}
	return ok("at most %d %%", most)
}

func quotaFits(f *Facts) []Finding {
	if found, asked := f.asked(); !asked {
		return found
	}
	if f.Claims.Err != nil {
		return []Finding{unknown("the volume claims", f.Claims.Err)}
	}
	if len(f.Claims.Value) == 0 {
		return notApplicable("the members have no volume claims")
	}
	// Members are mostly alike: those with the same numbers are told together.
	type short struct{ quota, room int64 }
	small := map[short][]etcd.Member{}
	var found []Finding
	for _, m := range f.answering() {
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
		found = append(found, warning(f.enlarge(g.room, members), "the database may grow to %s and the volume holds %s: %s", bytes(g.quota), bytes(g.room), list(pods(members))))
	}
	return found
}

// room is what the claim holds that a pod's data is on, 0 where it is on none. A claim
// for the write-ahead log alone doesn't count.
func (f *Facts) room(name string) (int64, error) {
	pod := f.pod(name)
	if pod == nil {
		return 0, errors.New("its pod is not known")
	}
	dir := f.dataDir(pod)
	if dir == "" {
		return 0, errors.New("the configuration doesn't say where the data is")
	}
	volume, mounted := volumeAt(&pod.Spec, dir)
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

// enlarge is how to give databases the room that their quota promises. A quota that
// they reach soon would stop all writes.
func (f *Facts) enlarge(room int64, members []etcd.Member) string {
	lower, largest := room/10*8, int64(0)
	for _, m := range members {
		largest = max(largest, m.DBSize)
	}
	if lower <= largest/4*5 {
		return "enlarge the claims"
	}
	return "enlarge the claims, or " + f.change(fmt.Sprintf("set --quota-backend-bytes=%d (80 %% of the volume)", lower), fmt.Sprintf("set spec.etcd.quota to %d (80 %% of the volume)", lower))
}
