// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
)

// warnOfRelease warns if another release was started than that of the members.
func warnOfRelease(a *app.App, s *v1alpha1.Snapshot) {
	theirs, err := utilversion.ParseGeneric(s.ClusterVersion)
	if err != nil {
		return // before etcd 3.5, a snapshot doesn't show it
	}
	ours, err := utilversion.ParseGeneric(s.Restored.EtcdVersion)
	if err == nil && (ours.Major() != theirs.Major() || ours.Minor() != theirs.Minor()) {
		a.Warn("the members agreed on etcd %d.%d, and %s was started: to try what they would do, name that release with --tool and --etcd.", theirs.Major(), theirs.Minor(), s.Restored.EtcdVersion)
	}
}
