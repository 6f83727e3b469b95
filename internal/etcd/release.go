// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import "k8s.io/apimachinery/pkg/util/version"

// Release returns a version of etcd, 0.0 for a text that is none.
func Release(text string) *version.Version {
	v, err := version.ParseGeneric(text)
	if err != nil {
		return version.MajorMinor(0, 0)
	}
	return v
}

// OtherRelease reports whether two versions are known and are of different minor releases.
func OtherRelease(a, b string) bool {
	x, y := Release(a), Release(b)
	return x.Major() != 0 && y.Major() != 0 && (x.Major() != y.Major() || x.Minor() != y.Minor())
}
