// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// DataVolumes returns the volumes with the data of a pod's etcd that outlive the pod. kept is false if some
// of the data is on none of these. If a directory isn't known without reading other objects, any such volume
// that the container mounts may have it.
func DataVolumes(pod *corev1.Pod) (volumes []*corev1.Volume, kept bool) {
	config, err := parseShown(pod)
	containers := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	at := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == config.Container })
	if err != nil || at < 0 {
		volumes = outliving(pod, slices.Concat(mountsOf(pod.Spec.Containers)...))
		return volumes, len(volumes) > 0
	}
	member := &containers[at]
	for _, dir := range []string{config.DataDir, config.WALDir} {
		mounts := member.VolumeMounts
		switch {
		case dir == "":
			continue
		case IsKnownDir(dir):
			mounts = nil
			if mount, _ := MountAt(member, dir); mount != nil {
				mounts = []corev1.VolumeMount{*mount}
			}
		}
		found := outliving(pod, mounts)
		if len(found) == 0 {
			return nil, false
		}
		volumes = append(volumes, found...)
	}
	return volumes, true
}

func mountsOf(containers []corev1.Container) (out [][]corev1.VolumeMount) {
	for i := range containers {
		out = append(out, containers[i].VolumeMounts)
	}
	return out
}

// outliving returns the mounted volumes that are not deleted with the pod.
func outliving(pod *corev1.Pod, mounts []corev1.VolumeMount) (out []*corev1.Volume) {
	for _, m := range mounts {
		v := volumeOf(pod, m.Name)
		if v == nil || v.EmptyDir != nil || v.Ephemeral != nil || v.CSI != nil || v.ConfigMap != nil || v.Secret != nil ||
			v.Projected != nil || v.DownwardAPI != nil || v.Image != nil || v.GitRepo != nil {
			continue
		}
		out = append(out, v)
	}
	return out
}
