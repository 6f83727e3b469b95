// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// refuseSingles returns the refusal of a change of members of etcds that are no cluster: each pod lists itself alone.
func refuseSingles(o owner.Owner) error {
	return &operate.RefusedError{What: "change the members of " + o.String(), Why: []string{fmt.Sprintf(
		"each pod lists itself alone: either it is an etcd of its own, or the cluster fell apart; %s shows which. Only if each is meant to be an etcd of its own, kubectl annotate statefulset %s -n %s %s=%s",
		o.Command("check"), o.StatefulSet, o.Namespace, v1alpha1.EtcdAnnotation, v1alpha1.NotEtcd)}}
}
