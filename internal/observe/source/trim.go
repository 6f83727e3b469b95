// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"maps"
	"slices"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
)

func trimPod(p *corev1.Pod) {
	keepShownPeers(p)
	trimAnnotations(p)
	lasting, sidecars := trimContainers(p)
	p.Spec = corev1.PodSpec{NodeName: p.Spec.NodeName, Containers: lasting, InitContainers: sidecars, ReadinessGates: closedGate(p)}
	all := containers.Statuses(p)
	own := len(p.Status.ContainerStatuses)
	p.Status = corev1.PodStatus{
		Phase: p.Status.Phase, Conditions: p.Status.Conditions,
		ContainerStatuses: trimStatuses(all[:own]), InitContainerStatuses: trimStatuses(all[own:]),
	}
}

func trimStatuses(of []corev1.ContainerStatus) (out []corev1.ContainerStatus) {
	for _, c := range of {
		out = append(out, corev1.ContainerStatus{
			Name: c.Name, Ready: c.Ready, RestartCount: c.RestartCount,
			State: corev1.ContainerState{Running: c.State.Running},
		})
	}
	return out
}

// closedGate returns the first readiness gate of a pod that is not open, as its only one. Whether there is one is
// all that is read of them.
func closedGate(p *corev1.Pod) []corev1.PodReadinessGate {
	for _, gate := range p.Spec.ReadinessGates {
		open := slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
			return c.Type == gate.ConditionType && c.Status == corev1.ConditionTrue
		})
		if !open {
			return []corev1.PodReadinessGate{{ConditionType: gate.ConditionType}}
		}
	}
	return nil
}

// trimStatefulSet keeps whether it runs etcd, the peers that its members list, and what its commands do
// to members. Of one that may run etcd it also keeps where its pods may run.
func trimStatefulSet(s *appsv1.StatefulSet) {
	keepPeers(s)
	keepMemberChanges(s)
	keepProduct(s)
	pod, t := etcdconf.PodOfTemplate(s), &s.Spec.Template
	lasting, sidecars := trimContainers(pod)
	if metav1.GetControllerOfNoCopy(s) != nil || etcdconf.MemberOf(pod).Evidence > etcdconf.NoEvidence {
		t.Spec = placementOf(&t.Spec)
	} else {
		t.Spec = corev1.PodSpec{}
	}
	t.Spec.Containers, t.Spec.InitContainers = lasting, sidecars
	trimAnnotations(s)
	s.Spec.Selector = limitedSelector(s.Spec.Selector)
	maps.DeleteFunc(t.Annotations, func(key, value string) bool {
		return key != v1alpha1.SpreadAnnotation && (key != v1alpha1.EtcdAnnotation || len(value) > mostAnnotations)
	})
	if record, has := t.Annotations[v1alpha1.SpreadAnnotation]; has {
		t.Annotations[v1alpha1.SpreadAnnotation] = beginning(record)
	}
	t.ObjectMeta = metav1.ObjectMeta{Labels: limited(t.Labels), Annotations: t.Annotations}
	trimClaimTemplates(s)
	s.Spec.ServiceName = short(s.Spec.ServiceName)
	if r := s.Spec.UpdateStrategy.RollingUpdate; r != nil {
		trimNumber(r.MaxUnavailable)
	}
	s.Status.Conditions = nil
}

func trimEtcd(e *druidv1alpha1.Etcd) {
	trimAnnotations(e)
	e.Spec.Annotations = nil
	e.Spec.Etcd = druidv1alpha1.EtcdConfig{HeartbeatDuration: e.Spec.Etcd.HeartbeatDuration}
	e.Spec.Common = druidv1alpha1.SharedConfig{}
	e.Spec.Backup = druidv1alpha1.BackupSpec{Store: e.Spec.Backup.Store}
}

func trimNode(n *corev1.Node) {
	n.Annotations = nil
	n.Spec = corev1.NodeSpec{Taints: n.Spec.Taints, Unschedulable: n.Spec.Unschedulable}
	var ready []corev1.NodeCondition
	for _, c := range n.Status.Conditions {
		if c.Type == corev1.NodeReady {
			ready = append(ready, corev1.NodeCondition{Type: c.Type, Status: c.Status, LastTransitionTime: c.LastTransitionTime})
		}
	}
	n.Status = corev1.NodeStatus{Conditions: ready}
}

func trimNamespace(n *corev1.Namespace) {
	n.Annotations, n.Spec, n.Status = nil, corev1.NamespaceSpec{}, corev1.NamespaceStatus{}
}

func trimVolume(v *corev1.PersistentVolume) {
	v.Annotations = nil
	v.Spec = corev1.PersistentVolumeSpec{NodeAffinity: v.Spec.NodeAffinity, StorageClassName: v.Spec.StorageClassName}
}

func trimClaim(c *corev1.PersistentVolumeClaim) {
	maps.DeleteFunc(c.Annotations, func(key, value string) bool {
		return key != corev1.BetaStorageClassAnnotation || len(value) > longestName
	})
	c.Spec = corev1.PersistentVolumeClaimSpec{VolumeName: short(c.Spec.VolumeName), StorageClassName: c.Spec.StorageClassName}
	c.Status = corev1.PersistentVolumeClaimStatus{Phase: c.Status.Phase}
}

func trimService(s *corev1.Service) {
	s.Annotations = nil
	s.Spec = corev1.ServiceSpec{Selector: limited(s.Spec.Selector), ClusterIP: s.Spec.ClusterIP, Type: s.Spec.Type}
	s.Status = corev1.ServiceStatus{}
}
