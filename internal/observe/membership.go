// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// ReadOnly reports whether the members are pods without a StatefulSet: nothing here
// may change how many there are.
func (o Owner) ReadOnly() bool { return o.Flavour == Pods }

// Product returns the product that the cluster comes from.
func (o Owner) Product() flavour.Product { return flavour.Of(o.Distribution) }

// Membership returns who manages the members of this cluster and how to have them
// changed, with the names of its own objects.
func (o Owner) Membership() flavour.Membership {
	m := o.Product().Membership
	if o.Controller != nil && m.Manager == flavour.Unmanaged {
		who := o.Controller.Kind + " " + o.Controller.Name
		return flavour.Membership{
			Manager: flavour.ByOperator, ManagerName: who,
			ScaleHow: "ask " + who + ", which made the StatefulSet and may write it back", ReplaceHow: "ask " + who,
		}
	}
	name := o.Name
	if o.Controller != nil && m.Manager == flavour.ByOperator && o.Flavour == StatefulSet {
		name = o.Controller.Name
	}
	fill := strings.NewReplacer("NAMESPACE", o.Namespace, "NAME", name)
	m.ScaleHow, m.ReplaceHow = fill.Replace(m.ScaleHow), fill.Replace(m.ReplaceHow)
	return m
}
