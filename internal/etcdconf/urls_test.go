// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
)

// TestURLs: a part of a list of URLs that a shell computes has no end of a URL in it.
func TestURLs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ text, want string }{
		{"http://a:1,http://b:2", "http://a:1|http://b:2"},
		{"http://a:1, http://b:2 ,", "http://a:1|http://b:2"},
		{"https://$(hostname -i):2379", "https://$(hostname -i):2379"},
		{"https://$(hostname -i):2379,https://127.0.0.1:2379", "https://$(hostname -i):2379|https://127.0.0.1:2379"},
		{"https://`hostname -i`:1,https://b:2", "https://`hostname -i`:1|https://b:2"},
		{"https://${IP:-a, b}:1,https://b:2", "https://${IP:-a, b}:1|https://b:2"},
		{"https://$(echo $(hostname -i) | cut -d, -f1):1,https://b:2", "https://$(echo $(hostname -i) | cut -d, -f1):1|https://b:2"},
		{"https://$(IP):1,https://b:2", "https://$(IP):1|https://b:2"},
		{"https://$(cat x:1,https://b:2", "https://$(cat x:1,https://b:2"},
		{"https://a):1,https://b:2", "https://a):1|https://b:2"},
		{"", ""},
	} {
		if diff := cmp.Diff(row.want, strings.Join(splitURLs(row.text), "|")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", row.text, diff)
		}
	}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{
		Command: []string{"sh", "-c", `exec etcd --listen-client-urls "https://$(hostname -i):2379,https://127.0.0.1:2379"`},
	}}}}
	config, err := ParsePod(pod, nil)
	if err != nil || len(config.ListenClient) != 2 {
		t.Errorf("a script's URLs are %q, error %v", config.ListenClient, err)
	}
}
