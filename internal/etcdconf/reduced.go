// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	corev1 "k8s.io/api/core/v1"
)

// Reduced returns a container that shows the same as a container of a pod: whether it runs etcd, and
// whether its readiness probe asks for the quorum. It is for a cache. Commands, variables and probes are
// text of a tenant, which may be long and may have secrets, so Reduced keeps none of it. What the
// container lists as its members is lost: [PeersOfPod] returns it before. Reduced of what it returned is the same.
func Reduced(pod *corev1.Pod, c *corev1.Container) corev1.Container {
	out := corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy, ReadinessProbe: reducedProbe(c.ReadinessProbe)}
	evidence := evidenceOf(pod, c, nil)
	switch {
	case evidence == NoEvidence:
		out.Command = []string{noMember}
	case evidence == Hinted:
		out.Env = namesOnly("ETCD_LISTEN_CLIENT_URLS")
	case wrapper(c) || startedIn(pod, c, nil).Program == "etcd":
		out.Command = []string{"etcd"}
	default:
		out.Env = namesOnly("ETCD_LISTEN_CLIENT_URLS", "ETCD_LISTEN_PEER_URLS")
	}
	if wrapper(c) {
		out.Args = []string{wrapperArg}
	}
	return out
}

// noMember is a program that is not etcd. Without a command, the image would decide what runs.
const noMember = "-"

// namesOnly returns variables whose values are not known.
func namesOnly(names ...string) []corev1.EnvVar {
	var out []corev1.EnvVar
	for _, name := range names {
		out = append(out, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{}})
	}
	return out
}

// reducedProbe returns a probe for which ShowsQuorum returns the same.
func reducedProbe(p *corev1.Probe) *corev1.Probe {
	switch {
	case p == nil:
		return nil
	case ShowsQuorum(p):
		return &corev1.Probe{}
	}
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}}
}
