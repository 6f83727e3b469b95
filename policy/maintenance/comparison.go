// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// youngerBy is how much younger the volumes of other members must be. A StatefulSet creates those of its first members
// within a shorter time.
const youngerBy = 5 * time.Minute

// Comparison is the result of a comparison of the voters' data: each voter hashed its data at one
// revision. The zero Comparison means that no voter was asked.
type Comparison struct {
	Revision int64
	// Groups are the voters' pods, grouped by equal data.
	Groups [][]string
	// Unknown is why a voter's data couldn't be compared, empty if all data was compared.
	Unknown string
}

// agree reports whether all voters were compared and have the same data.
func (c Comparison) agree() bool { return len(c.Groups) == 1 && c.Unknown == "" }

// describe returns which voters have the same data.
func (c Comparison) describe() string {
	var groups []string
	for _, pods := range c.Groups {
		groups = append(groups, strings.Join(pods, " and "))
	}
	return fmt.Sprintf("at revision %d the data of %s differs from that of %s", c.Revision, groups[0], strings.Join(groups[1:], ", and from that of "))
}

// Minority returns the pods whose data a pod's data differs from, if they are a majority of the
// voters. Then the pod's data is wrong. It returns nil for a pod that has the data of the majority,
// and if no majority has the same data.
func (c Comparison) Minority(pod string) []string {
	voters := 0
	for _, pods := range c.Groups {
		voters += len(pods)
	}
	for _, pods := range c.Groups {
		if 2*len(pods) > voters && !slices.Contains(pods, pod) && c.Unknown == "" {
			return pods
		}
	}
	return nil
}

// OldestVolume reports whether a pod had its volume before each of the others had theirs. Then these may have begun
// again without the data that it has, although they are the majority. created returns when the volume of a pod was
// created, and false for unknown, which is no evidence.
func OldestVolume(pod string, others []string, created func(pod string) (time.Time, bool)) bool {
	own, known := created(pod)
	return known && len(others) > 0 && !slices.ContainsFunc(others, func(other string) bool {
		at, known := created(other)
		return !known || at.Sub(own) < youngerBy
	})
}
