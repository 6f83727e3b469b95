// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
)

// KnowsDataDir reports whether the data directory is known.
func (c Config) KnowsDataDir() bool { return c.Unknown["data-dir"] == "" && IsKnownDir(c.DataDir) }

// DataMounts returns the names of the volumes with the data directory and the write-ahead log. A directory
// on no volume has none. known is false if a directory is not known, or the pod has no such container.
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
		if mount, _ := MountAt(at, dir); mount != nil {
			volumes = append(volumes, mount.Name)
		}
	}
	return volumes, true
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
