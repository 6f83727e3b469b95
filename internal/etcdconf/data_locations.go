// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"cmp"
	"path"

	corev1 "k8s.io/api/core/v1"
)

// DataLocation is where a directory of a member is.
type DataLocation struct {
	// Dir is the directory as etcd has it.
	Dir string
	// Volume is the name of the pod's volume, empty for the container's own file system. Path is the directory
	// in it.
	Volume, Path string
}

// DataLocations returns where the data directory and the write-ahead log are. known is false if a directory is
// not known, or the pod has no such container.
func (c Config) DataLocations(spec *corev1.PodSpec) (data, wal DataLocation, known bool) {
	at := c.withKnownData(spec)
	if at == nil {
		return data, wal, false
	}
	return locationOf(at, c.DataDir), locationOf(at, cmp.Or(c.WALDir, path.Join(c.DataDir, "member", "wal"))), true
}

func locationOf(container *corev1.Container, dir string) DataLocation {
	l := DataLocation{Dir: path.Clean(dir)}
	if mount, below := MountAt(container, dir); mount != nil {
		l.Volume, l.Path = mount.Name, path.Join("/", mount.SubPath, mount.SubPathExpr, below)
	}
	return l
}
