// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
)

// healthError returns an error for exit code 3 if the cluster is not healthy.
func healthError(st *v1alpha1.EtcdClusterStatus) error {
	switch st.Health {
	case v1alpha1.Healthy, v1alpha1.Hibernated:
		return nil
	}
	first := ""
	if len(st.Problems) > 0 {
		first = ": " + st.Problems[0].Message
	}
	if st.Health == v1alpha1.Unknown {
		return app.Unhealthy("the health of %s in namespace %s is unknown%s", st.Cluster.Target, st.Cluster.Namespace, first)
	}
	return app.Unhealthy("%s in namespace %s is %s%s", st.Cluster.Target, st.Cluster.Namespace, strings.ToLower(st.Health), first)
}
