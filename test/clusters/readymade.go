// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"fmt"
	"slices"
)

// readyMade lists the ready-made clusters in the order of the help.
var readyMade = []struct {
	name string
	spec Spec
}{
	{"druid-3", Spec{Flavour: Druid, Size: 3}},
	{"druid-1", Spec{Flavour: Druid, Size: 1}},
	{"plain-3", Spec{Flavour: Plain, Size: 3}},
	{"plain-5", Spec{Flavour: Plain, Size: 5}},
	{"bitnami-3", Spec{Flavour: Bitnami, Size: 3}},
}

// ReadyMade returns the spec of the ready-made cluster with that name. The caller may set more
// fields, for example TLS.
func ReadyMade(name string) (Spec, error) {
	for _, r := range readyMade {
		if r.name == name {
			return r.spec, nil
		}
	}
	return Spec{}, fmt.Errorf("no ready-made cluster is called %q; known are %q", name, ReadyMadeNames())
}

// ReadyMadeNames returns the names of the ready-made clusters.
func ReadyMadeNames() []string {
	names := make([]string, len(readyMade))
	for i, r := range readyMade {
		names[i] = r.name
	}
	return slices.Clip(names)
}
