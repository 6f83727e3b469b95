// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// warnOfRelease warns if another release was started than that of the members.
func warnOfRelease(a *app.App, s *v1alpha1.Snapshot) {
	if etcd.OtherRelease(s.ClusterVersion, s.Restored.EtcdVersion) { // before etcd 3.5, a snapshot doesn't show its version
		theirs := etcd.Release(s.ClusterVersion)
		a.Warn("the members agreed on etcd %d.%d, and %s was started: to try what they would do, name that release with --tool and --etcd.", theirs.Major(), theirs.Minor(), s.Restored.EtcdVersion)
	}
}
