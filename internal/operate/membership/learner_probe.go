// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
)

// probeFailsOnLearner reports whether a readiness probe fails on a learner, so that the learner does
// not become an endpoint, and why, as text.
func probeFailsOnLearner(probe *corev1.Probe, members []etcd.Member) (how string, kept bool) {
	switch {
	case probe == nil:
		return "it has no readiness probe", false
	case probe.Exec != nil:
		return commandFailsOnLearner(strings.Join(probe.Exec.Command, " "))
	case probe.HTTPGet != nil:
		return pathFailsOnLearner(probe.HTTPGet.Path, oldest(members))
	}
	return "its readiness probe only connects", false
}

// commandFailsOnLearner is probeFailsOnLearner for a command: every learner refuses etcdctl.
func commandFailsOnLearner(command string) (how string, kept bool) {
	if strings.Contains(command, "etcdctl") && (strings.Contains(command, "endpoint health") || strings.Contains(command, " get ")) {
		return "its readiness probe asks etcdctl, which a learner refuses", true
	}
	return fmt.Sprintf("it is unknown whether its readiness probe %q fails on a learner", command), false
}

// pathFailsOnLearner is probeFailsOnLearner for a path of etcd's. It checks for learners in /readyz
// from 3.5.19 on, and 3.4 does in /health.
func pathFailsOnLearner(asked, version string) (how string, kept bool) {
	path, query, _ := strings.Cut(asked, "?")
	major, minor, patch := parts(version)
	at := fmt.Sprintf("its readiness probe %s of etcd %s", asked, version)
	switch {
	case path == "/readyz" && !strings.Contains(query, "exclude=non_learner") && (major > 3 || minor > 5 || minor == 5 && patch >= 19):
		return at + " fails on a learner", true
	case path == "/health" && major == 3 && minor == 4 && query == "":
		return at + " fails on a learner", true
	}
	return at + " does not fail on a learner", false
}

// oldest is the lowest version that a member has.
func oldest(members []etcd.Member) string {
	lowest := ""
	for _, m := range members {
		if m.Err == nil && (lowest == "" || older(m.Version, lowest)) {
			lowest = m.Version
		}
	}
	return lowest
}

func older(a, b string) bool {
	x1, y1, z1 := parts(a)
	x2, y2, z2 := parts(b)
	return x1 < x2 || x1 == x2 && (y1 < y2 || y1 == y2 && z1 < z2)
}

func parts(version string) (major, minor, patch int) {
	fields := strings.SplitN(version, ".", 3)
	number := func(at int) int {
		if at >= len(fields) {
			return 0
		}
		digits, _, _ := strings.Cut(fields[at], "-")
		n, _ := strconv.Atoi(digits)
		return n
	}
	return number(0), number(1), number(2)
}
