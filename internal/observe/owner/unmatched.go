// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

// unmatched counts the names in the lists of a cluster's pods whose member is that of no pod: none advertises the name
// or the URL. A pod of which neither is known may be any of them.
func unmatched(members []listedPod) int {
	names, urls, anonymous := map[string]bool{}, map[string]bool{}, 0
	for _, m := range members {
		known := false
		for _, e := range m.self {
			if e.Identifies() {
				names[e.Name], urls[e.URL], known = true, true, true
			}
		}
		anonymous += toInt(!known)
	}
	left := map[string]bool{}
	for _, m := range members {
		for _, e := range m.peers {
			if e.Identifies() && !names[e.Name] && !urls[e.URL] {
				left[e.Name] = true
			}
		}
	}
	return max(0, len(left)-anonymous)
}
