// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// sprintf leaves a text without arguments as it is, per cent signs included.
func sprintf(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// unknown is the finding of a check whose facts could not be had.
func unknown(what string, err error) Finding {
	return Finding{Level: Unknown, Message: what + ": " + err.Error(), Fix: permission(err)}
}

// denied finds verb and resource in the API server's words, which say them
// nowhere else.
var denied = regexp.MustCompile(`cannot (\w+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

// permission says what right to ask for, empty where that isn't why.
func permission(err error) string {
	if !apierrors.IsForbidden(err) {
		return ""
	}
	m := denied.FindStringSubmatch(err.Error())
	if m == nil {
		return ""
	}
	resource, where := m[2], "at the cluster scope"
	if m[3] != "" {
		// As kubectl auth can-i takes it, the group before the subresource.
		name, sub, _ := strings.Cut(resource, "/")
		resource = name + "." + m[3]
		if sub != "" {
			resource += "/" + sub
		}
	}
	if m[4] != "" {
		where = "in namespace " + m[4]
	}
	return fmt.Sprintf("ask for the permission to %s %s %s", m[1], resource, where)
}

// bytes is a size as people read it.
func bytes(n int64) string {
	const unit = 1024
	if n < unit {
		return fmt.Sprintf("%d B", n)
	}
	value, at := float64(n)/unit, 0
	for value >= unit && at < 4 {
		value, at = value/unit, at+1
	}
	return fmt.Sprintf("%.1f %ciB", value, "KMGTP"[at])
}

// ago is a duration as people read it: its two largest units.
func ago(d time.Duration) string {
	d = d.Abs()
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d days", int(d.Hours())/24)
}

func plural(n int, one, many string) string {
	if n == 1 {
		return fmt.Sprintf("%d %s", n, one)
	}
	return fmt.Sprintf("%d %s", n, many)
}

// list joins names as a sentence has them.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

func percent(part, whole int64) int {
	if whole <= 0 {
		return 0
	}
	return int(100 * float64(part) / float64(whole))
}
