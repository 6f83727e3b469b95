// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
)

// KnowsDataDir reports whether the data directory is known.
func (c Config) KnowsDataDir() bool { return c.Unknown["data-dir"] == "" && IsKnownDir(c.DataDir) }

// DataMounts returns the names of the volumes with the data directory and the write-ahead log. A directory
// on no volume has none. known is false if a directory or its volume is not known, or the pod has no such container.
func (c Config) DataMounts(spec *corev1.PodSpec) (volumes []string, known bool) {
	at := c.withKnownData(spec)
	if at == nil {
		return nil, false
	}
	dirs := []string{c.DataDir}
	if c.WALDir != "" {
		dirs = append(dirs, c.WALDir)
	}
	for _, dir := range dirs {
		mount, is := mountIn(spec, at, dir)
		if !is {
			return nil, false
		}
		if mount != nil {
			volumes = append(volumes, mount.Name)
		}
	}
	return volumes, true
}

// DataMount returns the mount with the data directory, nil for one in the container's own file system. known is false
// if the directory or its volume is not known, or the pod has no such container.
func (c Config) DataMount(spec *corev1.PodSpec) (mount *corev1.VolumeMount, known bool) {
	at := containers.Named(spec, c.Container)
	if at == nil || !c.KnowsDataDir() {
		return nil, false
	}
	return mountIn(spec, at, c.DataDir)
}

// DataElsewhere reports whether the data may be somewhere else than in the directory that the container shows.
func (c Config) DataElsewhere(spec *corev1.PodSpec) bool {
	_, known := c.DataMount(spec)
	return !known && IsKnownDir(c.DataDir)
}

// mountIn returns the mount with a directory of a container, nil for its own file system. known is false for a directory on
// no volume where the container has a volume claim: its image may have a link to that.
func mountIn(spec *corev1.PodSpec, c *corev1.Container, dir string) (mount *corev1.VolumeMount, known bool) {
	mount, _ = MountAt(c, dir)
	return mount, mount != nil || !slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return isClaim(spec, m.Name) })
}

// isClaim reports whether a volume of a pod or of a template is a claim. That of a claim template is not among its volumes.
func isClaim(spec *corev1.PodSpec, name string) bool {
	at := slices.IndexFunc(spec.Volumes, func(v corev1.Volume) bool { return v.Name == name })
	return at < 0 || spec.Volumes[at].PersistentVolumeClaim != nil || spec.Volumes[at].Ephemeral != nil
}

// withKnownData returns the container of a pod whose data directories are known, nil for none.
func (c Config) withKnownData(spec *corev1.PodSpec) *corev1.Container {
	at := containers.Named(spec, c.Container)
	if at == nil || !c.KnowsDataDir() || c.mayLogElsewhere() {
		return nil
	}
	return at
}

// mayLogElsewhere reports whether the write-ahead log may be in another directory than the container shows. A launcher that
// is given no directory for it counts as one that gives etcd none.
func (c Config) mayLogElsewhere() bool {
	if c.WALDir == "" {
		return c.Launcher == "" && c.Unknown["wal-dir"] != ""
	}
	return c.Unknown["wal-dir"] != "" || !IsKnownDir(c.WALDir)
}
