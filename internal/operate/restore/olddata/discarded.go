// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package olddata

import (
	"fmt"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Discarded is what was seen after a Discard has acted.
type Discarded struct {
	// Parts are how many parts of old data are gone by it, and Freed the bytes that they had, as far as they are known.
	Parts int
	Freed int64
	// Stays is what was not removed.
	Stays []Kept
}

// String describes it for people.
func (d Discarded) String() string {
	var stays []string
	for _, k := range d.Stays {
		stays = append(stays, fmt.Sprintf("%s stays: %s", k, k.Stays))
	}
	what := "old data of a restore deleted, which freed " + policy.Bytes(d.Freed)
	switch {
	case d.Parts == 0 && len(stays) > 0:
		what = "no old data deleted"
	case d.Parts == 0:
		what = "no old data was there, and the record of it is removed"
	}
	return strings.Join(append([]string{what}, stays...), "; ")
}

func sum(sizes map[string]int64) int64 {
	total := int64(0)
	for _, size := range sizes {
		total += size
	}
	return total
}
