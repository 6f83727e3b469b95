// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/memberchange"
)

// storage is a folder by what has its files. Two volumes of a pod may be the same claim, or folders of its node.
type storage struct{ of, path string }

// storageOf returns what a container mounts, or a folder below it.
func (e *environment) storageOf(m *corev1.VolumeMount, below string) storage {
	s := storage{"volume " + m.Name, path.Join("/", e.subPath(m), below)}
	switch v := volumeOf(e.pod, m.Name); {
	case v == nil:
	case v.HostPath != nil:
		s = storage{"node", path.Join("/", v.HostPath.Path, s.path)}
	case v.PersistentVolumeClaim != nil:
		s.of = "claim " + v.PersistentVolumeClaim.ClaimName
	}
	return s
}

// subPath returns the folder of a volume that a container mounts.
func (e *environment) subPath(m *corev1.VolumeMount) string {
	if m.SubPathExpr == "" {
		return m.SubPath
	}
	sub, _ := expandReferences(m.SubPathExpr, e.lookup)
	return sub
}

// in returns the folder as a container sees it. Another container has no other files at the same path if the path is on no
// volume that is known.
func (f folder) in(c *environment) []string {
	switch {
	case f.of.container.Name == c.container.Name:
		return []string{f.dir}
	case !path.IsAbs(f.dir):
		return nil
	}
	var dirs []string
	mount, below := MountAt(f.of.container, f.dir)
	if mount == nil {
		dirs = append(dirs, f.dir)
	} else {
		dirs = append(dirs, c.mountsOf(f.of.storageOf(mount, below))...)
	}
	for i := range f.of.container.VolumeMounts { // in the folder, such as one for the log
		m := &f.of.container.VolumeMounts[i]
		if keepsIn(f.dir, m.MountPath) {
			dirs = append(dirs, c.mountsOf(f.of.storageOf(m, ""))...)
		}
	}
	return dirs
}

// mountsOf returns where a container has a folder of data, or what etcd keeps in it.
func (e *environment) mountsOf(at storage) (dirs []string) {
	for i := range e.container.VolumeMounts {
		m := &e.container.VolumeMounts[i]
		root, dir := e.storageOf(m, ""), path.Clean(m.MountPath)
		if root.of != at.of || root.path != at.path && !isBelow(at.path, root.path) && !keepsIn(at.path, root.path) {
			continue
		}
		if isBelow(at.path, root.path) {
			dir = path.Join(dir, strings.TrimPrefix(at.path, root.path))
		}
		if seen, _ := MountAt(e.container, dir); seen == m { // not below another mount
			dirs = append(dirs, dir)
		}
	}
	return dirs
}

// keepsIn reports whether etcd keeps files of its own at a path below a folder of data.
func keepsIn(dir, name string) bool {
	return isBelow(name, dir) && memberchange.OwnFiles(strings.TrimPrefix(path.Clean(name), path.Clean(dir)))
}

// isBelow reports whether a path is below a folder.
func isBelow(name, dir string) bool {
	name, dir = path.Clean(name), path.Clean(dir)
	return name != dir && strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}
