// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
)

// UnreadableError is returned for a file of a pod that is not in a Secret or ConfigMap, so that only
// the pod or its node can read it.
type UnreadableError struct {
	Namespace, Pod, Path string
	// Where is where the file is, as text.
	Where string
}

func (e *UnreadableError) Error() string {
	return fmt.Sprintf("file %s of pod %s/%s is %s, not in a Secret or ConfigMap", e.Path, e.Namespace, e.Pod, e.Where)
}

// Origin is where a file of a pod comes from.
type Origin struct {
	Kind string // Secret or ConfigMap
	Name string
	Key  string
}

// ReadFile reads a file as a container of the pod sees it, and reports the object
// that holds it. The error may be a *MissingError, an *UnreadableError or one of contents.
func ReadFile(pod *corev1.Pod, container, name string, contents Contents) ([]byte, Origin, error) {
	c := containers.Named(&pod.Spec, container)
	if c == nil {
		return nil, Origin{}, fmt.Errorf("pod %s/%s has no container %q", pod.Namespace, pod.Name, container)
	}
	return podFile(pod, c, name, contents)
}

// podFile reads a container's file, and returns its origin.
func podFile(pod *corev1.Pod, container *corev1.Container, name string, contents Contents) ([]byte, Origin, error) {
	name = path.Clean("/" + name)
	unreadable := func(where string) error {
		return &UnreadableError{Namespace: pod.Namespace, Pod: pod.Name, Path: name, Where: where}
	}
	mount, below := mountOf(pod, container, name, contents)
	if mount == nil {
		return nil, Origin{}, unreadable("in the image of container " + container.Name + " or written by it")
	}
	volume := volumeOf(pod, mount.Name)
	if volume == nil {
		return nil, Origin{}, unreadable("on volume " + mount.Name + ", which the pod doesn't define")
	}
	sources, where := sourcesOf(volume)
	if where != "" {
		return nil, Origin{}, unreadable(where)
	}
	return sources.read(pod.Namespace, below, contents, unreadable("on volume "+volume.Name+", which has no file of that name"))
}

// mountOf returns the mount that a file is below, and the file's path in the volume.
func mountOf(pod *corev1.Pod, container *corev1.Container, name string, contents Contents) (*corev1.VolumeMount, string) {
	found, below := MountAt(container, name)
	if found == nil {
		return nil, ""
	}
	sub := newEnvironment(pod, container, contents).subPath(found)
	return found, strings.TrimPrefix(path.Join("/", sub, below), "/")
}

// MountAt returns the mount with the longest path that contains a path of a container, and
// the rest of the path below it. It returns nil for a path in no mount.
func MountAt(container *corev1.Container, at string) (mount *corev1.VolumeMount, below string) {
	at = path.Clean(at)
	longest := ""
	for i := range container.VolumeMounts {
		m := &container.VolumeMounts[i]
		dir := path.Clean("/" + m.MountPath)
		rest, ok := strings.CutPrefix(at, strings.TrimSuffix(dir, "/"))
		if ok && (rest == "" || rest[0] == '/') && len(dir) >= len(longest) {
			mount, longest, below = m, dir, rest
		}
	}
	return mount, below
}

func volumeOf(pod *corev1.Pod, name string) *corev1.Volume {
	for i := range pod.Spec.Volumes {
		if pod.Spec.Volumes[i].Name == name {
			return &pod.Spec.Volumes[i]
		}
	}
	return nil
}

// source is a Secret or ConfigMap that gives a volume its files.
type source struct {
	kind, name string
	// items are the files by path; none means that each key is a file.
	items    []corev1.KeyToPath
	optional bool
}

// sources are the objects whose contents a volume has, in its order.
type sources []source

// sourcesOf returns the objects of a volume, or as text what else the volume is.
func sourcesOf(volume *corev1.Volume) (found sources, where string) {
	switch v := volume.VolumeSource; {
	case v.Secret != nil:
		return sources{{"Secret", v.Secret.SecretName, v.Secret.Items, isTrue(v.Secret.Optional)}}, ""
	case v.ConfigMap != nil:
		return sources{{"ConfigMap", v.ConfigMap.Name, v.ConfigMap.Items, isTrue(v.ConfigMap.Optional)}}, ""
	case v.Projected != nil:
		for _, p := range v.Projected.Sources {
			switch {
			case p.Secret != nil:
				found = append(found, source{"Secret", p.Secret.Name, p.Secret.Items, isTrue(p.Secret.Optional)})
			case p.ConfigMap != nil:
				found = append(found, source{"ConfigMap", p.ConfigMap.Name, p.ConfigMap.Items, isTrue(p.ConfigMap.Optional)})
			}
		}
		return found, ""
	case v.HostPath != nil:
		return nil, "on its node below " + v.HostPath.Path + " (hostPath)"
	case v.CSI != nil:
		return nil, "made by the CSI driver " + v.CSI.Driver
	case v.EmptyDir != nil:
		return nil, "written by a container of the pod into volume " + volume.Name + " (emptyDir)"
	case v.PersistentVolumeClaim != nil:
		return nil, "on the claim " + v.PersistentVolumeClaim.ClaimName
	}
	return nil, "on volume " + volume.Name
}

// read returns the file of the volume. The last source that has it takes precedence. absent is the
// error where none has it.
func (s sources) read(namespace, file string, contents Contents, absent error) ([]byte, Origin, error) {
	for _, source := range slices.Backward(s) {
		key, listed := source.keyOf(file)
		if key == "" {
			continue
		}
		data, err := contents(source.kind, source.name)
		if err != nil {
			if source.optional && isMissing(err) {
				continue
			}
			return nil, Origin{}, err
		}
		if value, ok := data[key]; ok {
			return value, Origin{Kind: source.kind, Name: source.name, Key: key}, nil
		}
		if listed || len(s) == 1 {
			absent = &MissingError{Kind: source.kind, Namespace: namespace, Name: source.name, Key: key}
		}
	}
	return nil, Origin{}, absent
}

// keyOf returns the key that becomes the file, "" for none.
func (s source) keyOf(file string) (key string, listed bool) {
	for _, item := range s.items {
		if path.Clean(item.Path) == file {
			return item.Key, true
		}
	}
	if len(s.items) > 0 || strings.Contains(file, "/") {
		return "", false
	}
	return file, false
}

func isTrue(b *bool) bool { return b != nil && *b }
