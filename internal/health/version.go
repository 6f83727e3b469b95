// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"context"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// memberVersions asks the members which version they run. Empty where none says.
func memberVersions(ctx context.Context, r *observe.Reader, to etcd.Access, o observe.Owner) string {
	members, err := to.Cluster(ctx, r, o)
	if err != nil {
		return ""
	}
	defer func() { _ = members.Close() }() // nothing was written
	said, err := members.Survey(ctx)
	if err != nil && ctx.Err() != nil {
		return ""
	}
	var versions []string
	for _, m := range said.Members {
		if m.Version != "" && !slices.Contains(versions, m.Version) {
			versions = append(versions, m.Version)
		}
	}
	slices.Sort(versions)
	return strings.Join(versions, ",")
}
