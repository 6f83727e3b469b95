// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// sprintf returns a text without arguments as it is, per cent signs included.
func sprintf(format string, args []any) string {
	if len(args) == 0 {
		return format
	}
	return fmt.Sprintf(format, args...)
}

// unknown returns the finding of a check whose facts could not be had.
func unknown(what string, err error) Finding {
	return Finding{Level: Unknown, Message: what + ": " + err.Error(), Fix: permission(err), cause: err}
}

// unanswered returns the finding of a check whose members could not be asked.
func unanswered(what string, err error) Finding {
	f := unknown(what, err)
	f.Message = what + ": " + etcd.Reason(err)
	return f
}

// denied matches verb and resource in a refusal of the API server, which has them only in
// its message.
var denied = regexp.MustCompile(`cannot (\w+) resource "([^"]+)" in API group "([^"]*)"(?: in the namespace "([^"]+)")?`)

// permission names the permission that is missing, empty where that isn't the cause.
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

// Percent returns the full per cents that a part is of the whole, 0 if the whole is unknown. Every limit is compared with
// these, so a text that shows them never shows a limit that is not reached.
func Percent(part, whole int64) int {
	if whole <= 0 {
		return 0
	}
	return int(100 * float64(part) / float64(whole))
}

// grouped returns a number of thousands, as texts write it: "5,000".
func grouped(n int) string { return fmt.Sprintf("%d,%03d", n/1000, n%1000) }
