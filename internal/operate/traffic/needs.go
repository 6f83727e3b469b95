// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	coordinationv1 "k8s.io/api/coordination/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// cutNeeds returns the permissions that a cut uses, besides those of the lock. With count it
// also needs those to count open streams.
func (c *Cluster) cutNeeds(count bool) []operate.Need {
	needs := c.needs()
	if c.Unreached == nil && count {
		needs = append(needs, operate.Need{Verb: "create", Resource: "pods", Subresource: "portforward", Namespace: c.Namespace})
	}
	return needs
}

// restoreNeeds returns the permissions that a restore uses, besides those of the lock.
func (c *Cluster) restoreNeeds() []operate.Need {
	needs := c.needs()
	if c.suspendedByCut() {
		needs = append(needs, c.suspendNeeds()...)
	}
	return needs
}

func (c *Cluster) needs() []operate.Need {
	in := func(verb, group, resource, name string) operate.Need {
		return operate.Need{Verb: verb, Group: group, Resource: resource, Namespace: c.Namespace, Name: name}
	}
	needs := []operate.Need{
		in("patch", coordinationv1.GroupName, "leases", lock.Name(c.Owner)),
		in("list", discoveryv1.GroupName, "endpointslices", ""),
	}
	for _, name := range c.Names() {
		needs = append(needs, in("get", "", "services", name), in("patch", "", "services", name))
	}
	return needs
}

// suspendNeeds returns the permissions for the annotation that suspends the operator.
func (c *Cluster) suspendNeeds() []operate.Need {
	resource := c.Resource()
	object := operate.Need{Group: resource.Group, Resource: resource.Resource, Namespace: c.Namespace, Name: c.Name}
	get, patch := object, object
	get.Verb, patch.Verb = "get", "patch"
	return []operate.Need{get, patch}
}
