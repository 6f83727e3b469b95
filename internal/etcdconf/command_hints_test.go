// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestHintsOfCommands has commands of which only the pod knows what they execute.
func TestHintsOfCommands(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ argv, want string }{
		{"/entry etcd --name a", "the first argument of its command is etcd"},
		{"/entry /usr/bin/etcd", "the first argument of its command is /usr/bin/etcd"},
		{"/entry /var/lib/etcd", ""},
		{"cat etcd", ""},
		{"/entry app etcd", ""},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Command: strings.Fields(row.argv)}}}}
		hints := HintsOf(pod)
		if (len(hints) > 0) != (row.want != "") || row.want != "" && !slices.Contains(hints, Hint{Container: "c", Text: row.want}) {
			t.Errorf("%q: hints %q, want %q", row.argv, hints, row.want)
		}
	}
}
