// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import "strings"

// daily says whether a cron schedule fires at least once every day: day, month
// and weekday are all open. False for what it can't read.
func daily(schedule string) bool {
	fields := strings.Fields(schedule)
	if len(fields) == 1 {
		return fields[0] == "@daily" || fields[0] == "@hourly" || fields[0] == "@midnight"
	}
	open := func(s string) bool { return s == "*" || s == "*/1" || s == "?" }
	return len(fields) == 5 && open(fields[2]) && open(fields[3]) && open(fields[4])
}
