// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package maintenance

import (
	"fmt"
	"slices"
	"strings"
)

// Comparison is what the voters' data came to when each hashed all of its own at
// one revision. The zero Comparison says that nobody was asked.
type Comparison struct {
	Revision int64
	// Groups are the voters' pods, each with those that have the same data.
	Groups [][]string
	// Unknown says why a voter's data couldn't be compared, and is empty where all were.
	Unknown string
}

// agree says that all voters were compared and have the same data.
func (c Comparison) agree() bool { return len(c.Groups) == 1 && c.Unknown == "" }

// describe says in words who has the same as whom.
func (c Comparison) describe() string {
	var said []string
	for _, pods := range c.Groups {
		said = append(said, strings.Join(pods, " and "))
	}
	return fmt.Sprintf("at revision %d the data of %s differ", c.Revision, strings.Join(said, " from those of "))
}

// Minority are those whose data a pod's differ from, where they are most of the voters:
// then its data are wrong. It is nil for a pod that has what most have, and where no
// data have most of the voters.
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
