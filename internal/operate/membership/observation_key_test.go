// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// TestEndpointsKey holds that connections are made again for a new pod, and for a pod with a new address.
func TestEndpointsKey(t *testing.T) {
	t.Parallel()
	pod := func(change func(*corev1.Pod)) []*corev1.Pod {
		p := &corev1.Pod{}
		p.Name, p.UID, p.Status.PodIP = "main-0", "u", "10.0.0.1"
		change(p)
		return []*corev1.Pod{p}
	}
	was := endpointsKey(pod(func(*corev1.Pod) {}))
	if same := endpointsKey(pod(func(p *corev1.Pod) { p.Status.Phase = corev1.PodRunning })); same != was {
		t.Errorf("the same pod: %q and %q", was, same)
	}
	for what, change := range map[string]func(*corev1.Pod){
		"name": func(p *corev1.Pod) { p.Name = "main-1" }, "UID": func(p *corev1.Pod) { p.UID = "v" },
		"address": func(p *corev1.Pod) { p.Status.PodIP = "10.0.0.2" },
	} {
		if endpointsKey(pod(change)) == was {
			t.Errorf("another %s has the same key", what)
		}
	}
}
