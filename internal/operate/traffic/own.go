// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// OwnTraffic is the traffic of a cluster itself to one member, which is no client's.
type OwnTraffic struct {
	// Streams are the streams by method.
	Streams map[string]int
	// Every has for each method the periods of unary calls: the kubelet's probes and an
	// operator's sidecar. A period of 0 stands for any number of calls.
	Every map[string][]time.Duration
}

// requests returns how many calls of a method the cluster itself may have made in a time.
func (o OwnTraffic) requests(method string, in time.Duration) int {
	n := 0
	for _, period := range o.Every[method] {
		if period <= 0 {
			return math.MaxInt32
		}
		n += int(in/period) + 1
	}
	return n
}

func (o *OwnTraffic) every(period time.Duration, methods ...string) {
	if o.Every == nil {
		o.Every = map[string][]time.Duration{}
	}
	for _, m := range methods {
		o.Every[m] = append(o.Every[m], period)
	}
}

// own returns the traffic of the cluster itself by pod.
func (c *Cluster) own(ctx context.Context) map[string]OwnTraffic {
	out := map[string]OwnTraffic{}
	pods, err := c.Reader.MemberPods(ctx, c.Owner)
	if err != nil {
		c.Warnf("The probes of the members are not known, so their requests are counted as those of clients: %v.", err)
	}
	for _, pod := range pods {
		out[pod.Name] = probeTraffic(pod)
	}
	if !c.Product().BackupRestore {
		return out
	}
	for _, m := range c.Members.Endpoints {
		o := out[m.Pod]
		druidTraffic(&o)
		out[m.Pod] = o
	}
	if leader, ok := c.survey.Leader(); ok && c.facts.Cluster.BackupReady.Status != policy.Absent {
		o := out[leader.Pod]
		// The backup sidecar beside the leader watches etcd for its delta snapshots.
		o.Streams = map[string]int{"Watch/Watch": 1}
		out[leader.Pod] = o
	}
	return out
}

// druidTraffic adds the requests of etcd-wrapper, which reads a key every two seconds, and of
// the backup sidecars. These ask for status and members at several periods, and read a key at
// most every five seconds.
func druidTraffic(o *OwnTraffic) {
	o.every(2*time.Second, "KV/Range")
	o.every(5*time.Second, "KV/Range")
	o.every(0, "Maintenance/Status", "Cluster/MemberList")
}

// probeTraffic returns the requests of the kubelet's probes that run etcdctl or a health script.
// Each may read a key and the alarms, and log in before. Probes by HTTP make no gRPC calls.
func probeTraffic(pod *corev1.Pod) OwnTraffic {
	var o OwnTraffic
	for _, c := range containers.Of(&pod.Spec) {
		for _, p := range []*corev1.Probe{c.LivenessProbe, c.ReadinessProbe, c.StartupProbe} {
			if p == nil || p.Exec == nil || !slices.ContainsFunc(p.Exec.Command, asksEtcd) {
				continue
			}
			period := time.Duration(max(p.PeriodSeconds, 1)) * time.Second
			if p.PeriodSeconds == 0 {
				period = 10 * time.Second // Kubernetes' default
			}
			o.every(period, "KV/Range", "Maintenance/Alarm", "Maintenance/Status", "Auth/Authenticate")
		}
	}
	return o
}

func asksEtcd(word string) bool {
	return strings.Contains(word, "etcdctl") || strings.Contains(word, "health")
}
