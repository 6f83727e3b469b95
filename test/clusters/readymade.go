// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"fmt"
	"slices"
)

// readyMade are the clusters that have a name of their own, in the order in which
// help lists them.
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

// ReadyMade returns the spec of the ready-made cluster of that name. The caller
// may set further fields, above all TLS.
func ReadyMade(name string) (Spec, error) {
	for _, r := range readyMade {
		if r.name == name {
			return r.spec, nil
		}
	}
	return Spec{}, fmt.Errorf("no ready-made cluster is called %q; known are %q", name, ReadyMadeNames())
}

// ReadyMadeNames returns the names that ReadyMade knows.
func ReadyMadeNames() []string {
	names := make([]string, len(readyMade))
	for i, r := range readyMade {
		names[i] = r.name
	}
	return slices.Clip(names)
}
