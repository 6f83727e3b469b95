// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// ofOperator refuses a cluster whose operator takes the backups, and names the field that sets when.
func (j *Job) ofOperator() error {
	object, _ := j.Owner.Object()
	o, who, fields := j.Owner, j.Owner.Membership().ManagerName, j.Owner.Product().Fields
	if j.Action != Set {
		return operate.Refuse("%s has no schedule of this command: %s takes its backups (%s)", o, who, fields[flavour.Schedule])
	}
	at, err := cron(j.Spec.Every, o.Namespace+"/"+o.Name)
	if err != nil {
		return err
	}
	return operate.Refuse(`%s takes the backups of %s into its own store (%s). To change when, run kubectl patch %s -n %s --type merge -p '%s'`,
		who, o, fields[flavour.Store], object, o.Namespace, mergePatch(fields[flavour.Schedule], at))
}

// mergePatch returns a merge patch that sets the field with a path, such as spec.replicas, to a text.
func mergePatch(path, text string) string {
	patch := fmt.Sprintf("%q", text)
	for _, name := range slices.Backward(strings.Split(path, ".")) {
		patch = fmt.Sprintf("{%q:%s}", name, patch)
	}
	return patch
}
