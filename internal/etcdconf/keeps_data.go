// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
)

// DataVolumes returns the volumes with the data of a pod's etcd that outlive the pod. kept is false if some
// of the data is on none of these. If a directory isn't known without reading other objects, any such volume
// that the container mounts may have it.
func DataVolumes(pod *corev1.Pod) (volumes []*corev1.Volume, kept bool) {
	config, err := parseShown(pod)
	dirs := []string{config.DataDir}
	switch {
	case err != nil:
		config, dirs = Config{}, []string{""} // any container may have it
	case config.WALDir != "":
		dirs = append(dirs, config.WALDir)
	}
	if !config.KnowsDataDir() {
		dirs[0] = ""
	}
	if len(dirs) > 1 && config.Unknown["wal-dir"] != "" {
		dirs[1] = ""
	}
	for _, dir := range dirs {
		found := mounted(pod, config.Container)
		if IsKnownDir(dir) {
			found = []*corev1.Volume{VolumeAt(pod, config.Container, dir)}
		}
		if found = outliving(found); len(found) == 0 {
			return nil, false
		}
		volumes = append(volumes, found...)
	}
	return volumes, true
}

// VolumeAt returns the volume of a directory of a container, nil where it is on none.
func VolumeAt(pod *corev1.Pod, container, dir string) *corev1.Volume {
	for _, c := range slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers) {
		if mount, _ := MountAt(&c, dir); c.Name == container && mount != nil {
			return volumeOf(pod, mount.Name)
		}
	}
	return nil
}

// mounted returns the volumes that a container mounts, or any container if it is empty.
func mounted(pod *corev1.Pod, container string) (out []*corev1.Volume) {
	for _, c := range containers.Of(&pod.Spec) {
		for _, m := range c.VolumeMounts {
			if container == "" || c.Name == container {
				out = append(out, volumeOf(pod, m.Name))
			}
		}
	}
	return out
}

// outliving returns those volumes that are not deleted with the pod. Nil is no volume.
func outliving(volumes []*corev1.Volume) []*corev1.Volume {
	return slices.DeleteFunc(volumes, func(v *corev1.Volume) bool {
		return v == nil || v.EmptyDir != nil || v.Ephemeral != nil || v.CSI != nil || v.ConfigMap != nil || v.Secret != nil ||
			v.Projected != nil || v.DownwardAPI != nil || v.Image != nil || v.GitRepo != nil
	})
}
