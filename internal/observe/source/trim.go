// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"maps"
	"slices"
	"strings"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

func trimPod(p *corev1.Pod) {
	maps.DeleteFunc(p.Annotations, func(key, _ string) bool { return !strings.HasPrefix(key, "kubectl-etcd.dev/") })
	containers, volumes := trimContainers(&p.Spec)
	p.Spec = corev1.PodSpec{NodeName: p.Spec.NodeName, Containers: containers, Volumes: volumes}
	status := corev1.PodStatus{Phase: p.Status.Phase, Conditions: p.Status.Conditions}
	for _, c := range p.Status.ContainerStatuses {
		status.ContainerStatuses = append(status.ContainerStatuses, corev1.ContainerStatus{
			Name: c.Name, Ready: c.Ready, RestartCount: c.RestartCount,
			State: corev1.ContainerState{Running: c.State.Running},
		})
	}
	p.Status = status
}

// trimStatefulSet keeps the fields that show whether it runs etcd and where its pods may run, the
// peers that its members list, and what its commands do to members.
func trimStatefulSet(s *appsv1.StatefulSet) {
	keepPeers(s)
	keepMemberChanges(s)
	t := &s.Spec.Template
	containers, volumes := trimContainers(&t.Spec)
	spec := corev1.PodSpec{
		Containers:                containers,
		Volumes:                   volumes,
		NodeSelector:              t.Spec.NodeSelector,
		Affinity:                  t.Spec.Affinity,
		Tolerations:               t.Spec.Tolerations,
		TopologySpreadConstraints: t.Spec.TopologySpreadConstraints,
	}
	for _, v := range t.Spec.Volumes {
		if v.PersistentVolumeClaim != nil {
			spec.Volumes = append(spec.Volumes, v)
		}
	}
	t.Spec = spec
	maps.DeleteFunc(t.Annotations, func(key, _ string) bool { return key != v1alpha1.EtcdAnnotation })
	for i := range s.Spec.VolumeClaimTemplates {
		c := &s.Spec.VolumeClaimTemplates[i]
		c.Annotations, c.Labels = nil, nil
		c.Spec = corev1.PersistentVolumeClaimSpec{StorageClassName: c.Spec.StorageClassName}
		c.Status = corev1.PersistentVolumeClaimStatus{}
	}
}

// trimContainers keeps the fields that show whether a container runs etcd and has a readiness
// probe, with the volumes of programs that are not in an image. Values of variables can be secrets, so
// it drops those that show nothing.
func trimContainers(spec *corev1.PodSpec) ([]corev1.Container, []corev1.Volume) {
	out := make([]corev1.Container, 0, len(spec.Containers))
	var volumes []corev1.Volume
	for i := range spec.Containers {
		c := &spec.Containers[i]
		held := corev1.Container{
			Name: c.Name, Command: c.Command, Args: c.Args, ReadinessProbe: c.ReadinessProbe, Env: etcdconf.WithoutValues(spec, c),
		}
		if mount, volume, ok := etcdconf.ProgramMount(spec, c); ok {
			held.VolumeMounts = []corev1.VolumeMount{mount}
			if !slices.ContainsFunc(volumes, func(v corev1.Volume) bool { return v.Name == volume.Name }) {
				volumes = append(volumes, volume)
			}
		}
		out = append(out, held)
	}
	return out, volumes
}

func trimEtcd(e *druidv1alpha1.Etcd) {
	e.Spec.Etcd = druidv1alpha1.EtcdConfig{HeartbeatDuration: e.Spec.Etcd.HeartbeatDuration}
	e.Spec.Common = druidv1alpha1.SharedConfig{}
	e.Spec.Backup = druidv1alpha1.BackupSpec{Store: e.Spec.Backup.Store}
}

func trimNode(n *corev1.Node) {
	n.Annotations = nil
	n.Spec = corev1.NodeSpec{Taints: n.Spec.Taints, Unschedulable: n.Spec.Unschedulable}
	n.Status = corev1.NodeStatus{}
}

func trimNamespace(n *corev1.Namespace) {
	n.Annotations, n.Spec, n.Status = nil, corev1.NamespaceSpec{}, corev1.NamespaceStatus{}
}

func trimVolume(v *corev1.PersistentVolume) {
	v.Annotations = nil
	v.Spec = corev1.PersistentVolumeSpec{NodeAffinity: v.Spec.NodeAffinity, StorageClassName: v.Spec.StorageClassName}
}

func trimClaim(c *corev1.PersistentVolumeClaim) {
	maps.DeleteFunc(c.Annotations, func(key, _ string) bool { return key != corev1.BetaStorageClassAnnotation })
	c.Spec = corev1.PersistentVolumeClaimSpec{VolumeName: c.Spec.VolumeName, StorageClassName: c.Spec.StorageClassName}
	c.Status = corev1.PersistentVolumeClaimStatus{Phase: c.Status.Phase}
}

func trimService(s *corev1.Service) {
	s.Annotations = nil
	s.Spec = corev1.ServiceSpec{Selector: s.Spec.Selector, ClusterIP: s.Spec.ClusterIP, Type: s.Spec.Type}
	s.Status = corev1.ServiceStatus{}
}
