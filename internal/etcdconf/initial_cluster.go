// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

var initialCluster = regexp.MustCompile(`(?:^|\s)--?initial-cluster[=\s]+"?([^\s"]+)`)

// InitialMemberNames returns the members' names in the initial cluster, in order.
func InitialMemberNames(spec *corev1.PodSpec) []string {
	for _, c := range spec.Containers {
		text := ""
		for _, e := range c.Env {
			if e.Name == "ETCD_INITIAL_CLUSTER" {
				text = e.Value
			}
		}
		if m := initialCluster.FindStringSubmatch(strings.Join(slices.Concat(c.Command, c.Args), " ")); m != nil {
			text = m[1]
		}
		var names []string
		for entry := range strings.SplitSeq(text, ",") {
			if name, _, ok := strings.Cut(entry, "="); ok {
				names = append(names, strings.TrimSpace(name))
			}
		}
		if len(names) > 0 {
			slices.Sort(names)
			return slices.Compact(names)
		}
	}
	return nil
}
