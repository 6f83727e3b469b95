// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"fmt"
	"strings"
)

// setValue returns how to set a value of the chart that an owner is from.
func (o Owner) setValue(value string) string {
	switch {
	case o.Values() == "":
		return "set the replicas in its manifests, or " + value + "=N in the values from which they are rendered"
	case o.Release() == "" || o.HelmRelease() != "":
		return "set " + value + "=N in VALUES" + o.asDependency(value)
	}
	chart := chartName(o.Labels[helmChart])
	if chart == "" {
		return o.upgrade(value)
	}
	return fmt.Sprintf("check the CHART of release %s with helm list -n %s: if it is %s, %s; if %s is a dependency of it, %s (if other charts are between them, the value begins with their names, as in PARENT.%s.%s)",
		o.Release(), o.ReleaseNamespace(), chart, o.upgrade(value), chart, o.upgrade(chart+"."+value), chart, value)
}

// upgrade returns the command that sets a value of a release.
func (o Owner) upgrade(value string) string {
	return fmt.Sprintf("helm upgrade %s CHART -n %s --reuse-values --set %s=N", o.Release(), o.ReleaseNamespace(), value)
}

// setValueToo returns which value of the chart that an owner is from must be changed with the number of members.
func (o Owner) setValueToo(value string) string {
	return "set " + value + " in VALUES too" + o.asDependency(value) + ", or the chart undoes it when it is applied again"
}

// setReplicasToo returns which number of the chart that an owner is from must be changed with the number of members, where
// the name of its value is not known.
func (o Owner) setReplicasToo() string {
	return "change the number of replicas in VALUES too, or they undo it when they are applied again"
}

// asDependency returns, in brackets, where a value of a chart is if that chart is a dependency of another one. A value of
// the same name at the top is then the other chart's own: it may scale something else. An object of a dependency shows the dependency's name and the release, and no name of
// the charts above. It is empty if the name is not shown.
func (o Owner) asDependency(value string) string {
	chart := chartName(o.Labels[helmChart])
	if chart == "" {
		return ""
	}
	where := fmt.Sprintf("where %s is a dependency of another chart,", chart)
	if o.Release() != "" && o.HelmRelease() == "" {
		where = fmt.Sprintf("helm list -n %s shows the release's CHART: if it isn't %s, then %s is a dependency of it and", o.ReleaseNamespace(), chart, chart)
	}
	return fmt.Sprintf(" (%s the value is %s.%s; if other charts are between them, the value begins with their names, as in PARENT.%s.%s)", where, chart, value, chart, value)
}

// chartName returns the name in a label helm.sh/chart, which ends with the version.
func chartName(label string) string {
	for i := len(label) - 1; i > 0; i-- {
		if label[i-1] == '-' && label[i] >= '0' && label[i] <= '9' && strings.Contains(label[i:], ".") {
			return label[:i-1]
		}
	}
	return ""
}
