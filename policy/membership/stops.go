// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"slices"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// stopReason is a reason at which a change of members stops until a user acts. Only stopsAt makes one.
type stopReason struct{ reason policy.Reason }

// stops has all of them.
var stops []policy.Reason

var (
	atLearner              = stopsAt(policy.LearnerPresent)
	atMemberWithoutOrdinal = stopsAt(MemberWithoutOrdinal)
	atGap                  = stopsAt(MemberGap)
	atUnknownOperation     = stopsAt(UnknownOperation)
)

func stopsAt(reason policy.Reason) stopReason {
	stops = append(stops, reason)
	return stopReason{reason}
}

// Stops returns the reasons at which a change of members stops until a user acts.
func Stops() []policy.Reason { return slices.Clone(stops) }

func stop(at stopReason, format string, args ...any) Step {
	return Step{Act: Stop, Reason: at.reason, Message: fmt.Sprintf(format, args...)}
}
