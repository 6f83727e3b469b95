// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// HelperEnd ends the name of the helper pod of a member. A StatefulSet's pods end in a number, so none has the name
// of a helper, also beside clusters main and restore-main.
const HelperEnd = "-restore"

// StoreEnd ends the name of the pod that mounts the store, and ImageEnd that of the pod that tries the image. Both
// begin with the StatefulSet.
const (
	StoreEnd = HelperEnd + "-store"
	ImageEnd = HelperEnd + "-image"
)

// helperPod is the helper pod of each member, which mounts its volumes.
const helperPod = step.EachPod + HelperEnd

func helperName(pod string) string { return strings.ReplaceAll(helperPod, step.EachPod, pod) }

func (r Plan) storePod() string { return r.Owner.StatefulSet + StoreEnd }

func (r Plan) imagePod() string { return r.Owner.StatefulSet + ImageEnd }

// deleteHelpers deletes helper pods of this cluster, which may exist.
func (r Plan) deleteHelpers(names ...string) step.Action {
	return step.DeleteHelpers{Names: names, Of: string(r.Owner.UID)}
}
