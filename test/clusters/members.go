// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Member is one member's pod, with its lease if the flavour has leases.
type Member struct {
	Pod corev1.Pod
	// Node and Zone are empty while the pod is not scheduled.
	Node, Zone string
	// Ready is the pod's Ready condition.
	Ready bool
	// Lease is nil if the member has none.
	Lease *Lease
}

// Lease is the lease that a member of a druid cluster renews at every heartbeat.
type Lease struct {
	// Holder is the whole identity: id:cluster:role, or id:role with older versions.
	Holder string
	// Role is Leader or Member, as the member last reported it. The lease of an isolated leader
	// still has Leader.
	Role string
	// Renewed is the time of the member's last renewal, by its own clock.
	Renewed time.Time
}

// Members returns the existing pods in the order of their ordinals.
func (c *Cluster) Members(ctx context.Context) ([]Member, error) {
	var pods corev1.PodList
	if err := c.kube.List(ctx, &pods, client.InNamespace(c.Namespace), client.MatchingLabels(c.MemberLabels())); err != nil {
		return nil, fmt.Errorf("list members of %s: %w", c, err)
	}
	zones, err := c.kube.zones(ctx)
	if err != nil {
		return nil, err
	}
	members := make([]Member, 0, len(pods.Items))
	for _, pod := range pods.Items {
		m := Member{Pod: pod, Node: pod.Spec.NodeName, Zone: zones[pod.Spec.NodeName], Ready: podReady(&pod)}
		if c.Flavour == Druid {
			if m.Lease, err = c.lease(ctx, pod.Name); err != nil {
				return nil, err
			}
		}
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b Member) int {
		// Names of one StatefulSet differ only in the ordinal, so a longer name has a higher
		// ordinal.
		return cmp.Or(cmp.Compare(len(a.Pod.Name), len(b.Pod.Name)), strings.Compare(a.Pod.Name, b.Pod.Name))
	})
	return members, nil
}

// Member returns the member with this ordinal. Its pod must exist.
func (c *Cluster) Member(ctx context.Context, ordinal int) (Member, error) {
	members, err := c.Members(ctx)
	if err != nil {
		return Member{}, err
	}
	name := fmt.Sprintf("%s-%d", c.Full(), ordinal)
	for _, m := range members {
		if m.Pod.Name == name {
			return m, nil
		}
	}
	return Member{}, fmt.Errorf("cluster %s has no pod %s", c, name)
}

// lease returns the member's lease, or nil if it has none yet.
func (c *Cluster) lease(ctx context.Context, pod string) (*Lease, error) {
	name := pod
	if c.Druid.MemberNamePrefix != "" {
		name = c.Druid.MemberNamePrefix + "-" + pod
	}
	var lease coordinationv1.Lease
	err := c.kube.Get(ctx, client.ObjectKey{Namespace: c.Namespace, Name: name}, &lease)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // no lease is an answer, and most flavours'
	}
	if err != nil {
		return nil, fmt.Errorf("read lease %s/%s: %w", c.Namespace, name, err)
	}
	if lease.Spec.HolderIdentity == nil || lease.Spec.RenewTime == nil {
		return nil, nil //nolint:nilnil // druid creates the lease before the member renews it
	}
	holder := *lease.Spec.HolderIdentity
	return &Lease{
		Holder:  holder,
		Role:    holder[strings.LastIndex(holder, ":")+1:],
		Renewed: lease.Spec.RenewTime.Time,
	}, nil
}

// zones returns the zone of each node by name.
func (k *kube) zones(ctx context.Context) (map[string]string, error) {
	var nodes corev1.NodeList
	if err := k.List(ctx, &nodes); err != nil {
		return nil, fmt.Errorf("list nodes: %w", err)
	}
	zones := make(map[string]string, len(nodes.Items))
	for _, node := range nodes.Items {
		zones[node.Name] = node.Labels[corev1.LabelTopologyZone]
	}
	return zones, nil
}

// Zones returns the number of members in each zone. Members without a node count under the empty
// name.
func Zones(members []Member) map[string]int {
	zones := map[string]int{}
	for _, m := range members {
		zones[m.Zone]++
	}
	return zones
}

func podReady(pod *corev1.Pod) bool { return pod.DeletionTimestamp == nil && hasReady(pod) }

// String describes a member for messages, in detail if it isn't Ready.
func (m Member) String() string {
	switch {
	case m.Ready:
		return m.Pod.Name + " Ready"
	case m.Pod.DeletionTimestamp != nil:
		return m.Pod.Name + " Terminating"
	}
	for _, c := range m.Pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return fmt.Sprintf("%s %s: %s", m.Pod.Name, c.Reason, c.Message)
		}
	}
	for _, s := range slices.Concat(m.Pod.Status.InitContainerStatuses, m.Pod.Status.ContainerStatuses) {
		if w := s.State.Waiting; w != nil && w.Reason != "PodInitializing" {
			return fmt.Sprintf("%s: %s %s %s", m.Pod.Name, s.Name, w.Reason, w.Message)
		}
	}
	return fmt.Sprintf("%s %s, not Ready", m.Pod.Name, m.Pod.Status.Phase)
}

// Lives contains what changes with a restart or with a write to the StatefulSet's spec.
type Lives struct {
	// Generation of the StatefulSet.
	Generation int64
	// Pods has each member's UID and its number of container restarts, by name.
	Pods map[string]string
}

// Lives returns what must not change if nothing restarts.
func (c *Cluster) Lives(ctx context.Context) (Lives, error) {
	sts, err := c.StatefulSet(ctx)
	if err != nil {
		return Lives{}, err
	}
	members, err := c.Members(ctx)
	if err != nil {
		return Lives{}, err
	}
	l := Lives{Generation: sts.Generation, Pods: map[string]string{}}
	for _, m := range members {
		restarts := 0
		for _, s := range slices.Concat(m.Pod.Status.InitContainerStatuses, m.Pod.Status.ContainerStatuses) {
			restarts += int(s.RestartCount)
		}
		l.Pods[m.Pod.Name] = fmt.Sprintf("%s restarts %d", m.Pod.UID, restarts)
	}
	return l, nil
}
