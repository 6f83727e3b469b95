// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
)

// change is an order to change a setting of the members, with the object in which it is
// changed: a change of another object is written back by its owner. druid is the order
// where an Etcd has a field for it, and empty where it has none.
func (f *Facts) change(order, druid string) string {
	o := f.Owner
	release, w := o.Release(), o.Membership()
	switch {
	case o.OfDruid() && druid == "":
		return order + ", which only etcd-druid can do: an Etcd has no field for it"
	case o.OfDruid():
		return druid + ": " + f.kubectl("edit etcd "+o.Name)
	case o.Product().Settings != "":
		return order + " " + o.Product().Settings
	case o.Controller != nil:
		return order + " by way of " + o.Controller.Kind + " " + o.Controller.Name + ", as far as it has a field for it: " +
			f.kubectl("edit "+owner.TypedKind(o.Controller)+" "+o.Controller.Name)
	case o.WithoutStatefulSet() && o.Target().Kind != "":
		return order + " by way of " + o.Kind + " " + o.Name + ", as far as it has a field for it: " + f.kubectl("edit "+owner.TypedKind(&metav1.OwnerReference{APIVersion: o.APIVersion, Kind: o.Kind})+" "+o.Name)
	case release != "":
		return order + " in the values of Helm release " + release + ", which helm get values " + release + " -n " + o.Namespace + " prints"
	case w.ManagerName == flavour.Nothing:
		return order + " in the manifests of its pods"
	case w.Manager == flavour.ByOperator:
		return order + " by way of " + w.ManagerName
	}
	if o.Spans() {
		order += " in StatefulSets " + o.WorkloadNames()
	}
	return order + ": " + f.kubectl("edit statefulset "+o.StatefulSet)
}

// writable reports whether a person changes the members' pods in the StatefulSet.
func (f *Facts) writable() bool {
	o := f.Owner
	return o.StatefulSet != "" && o.Controller == nil && o.Release() == "" && o.Membership().Manager != flavour.ByOperator
}
