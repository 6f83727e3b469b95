// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/version"
)

// ClientVersion returns the version and the build information of this program.
func ClientVersion() v1alpha1.ClientVersion {
	v := version.Get()
	return v1alpha1.ClientVersion{
		Version: v.Version, Commit: v.Commit, CommitDate: v.Date, Modified: v.Modified,
		GoVersion: v.Go, Platform: v.Platform,
	}
}
