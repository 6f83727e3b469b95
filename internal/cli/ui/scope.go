// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

// ScopeText returns in which namespace a command searched, and for which labels, to be appended to a
// sentence. An empty namespace is all of them.
func ScopeText(namespace, selector string) string {
	where := " in any namespace"
	if namespace != "" {
		where = " in namespace " + namespace
	}
	if selector != "" {
		where += " with labels " + selector
	}
	return where
}
