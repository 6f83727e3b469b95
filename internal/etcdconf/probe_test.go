// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
)

func TestFailsOnLearner(t *testing.T) {
	t.Parallel()
	get := func(path string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: path}}}
	}
	run := func(command ...string) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command}}}
	}
	for _, c := range []struct {
		name    string
		probe   *corev1.Probe
		version string
		want    bool
	}{
		{"none", nil, "3.7.3", false},
		{"readyz", get("/readyz"), "3.7.3", true},
		{"readyz of 3.6", get("/readyz"), "3.6.0", true},
		{"readyz of 3.5, new", get("/readyz"), "3.5.19", true},
		{"readyz of 3.5, old", get("/readyz"), "3.5.18", false},
		{"readyz of 3.4", get("/readyz"), "3.4.45", false},
		{"readyz without that check", get("/readyz?exclude=non_learner"), "3.7.3", false},
		{"health of 3.4", get("/health"), "3.4.45", true},
		{"health of 3.5", get("/health"), "3.5.27", false},
		{"health of 3.4, of itself alone", get("/health?serializable=true"), "3.4.45", false},
		{"livez", get("/livez"), "3.7.3", false},
		{"etcdctl", run("/bin/sh", "-c", "etcdctl endpoint health"), "3.5.0", true},
		{"a script", run("/healthcheck.sh"), "3.7.3", false},
		{"a port", &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}}, "3.7.3", false},
	} {
		how, kept := FailsOnLearner(c.probe, c.version)
		if kept != c.want || how == "" {
			t.Errorf("%s: kept out %t (%s), want %t", c.name, kept, how, c.want)
		}
	}
}
