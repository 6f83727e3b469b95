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

// manager is the name of kOps' program that starts etcd. Its image and its labels have names that begin so.
const manager = "etcd-manager"

// launchers are programs that start etcd: kOps' and Kubermatic's.
var launchers = []string{manager, "etcd-launcher"}

// isLauncherImage reports whether an image is called as one of the launchers, or begins with the name of kOps'.
func isLauncherImage(image string) bool {
	name := imageName(image)
	return slices.Contains(launchers, name) || strings.HasPrefix(name, manager+"-")
}

// imageName returns the name of an image without its registry, tag and digest.
func imageName(image string) string {
	image, _, _ = strings.Cut(image, "@")
	name, _, _ := strings.Cut(path.Base(image), ":")
	return name
}

// copyHint returns that an init container copies etcd's program, for another container to start. It is empty where none does.
func copyHint(pod *corev1.Pod) string {
	for i := range pod.Spec.InitContainers {
		if c := &pod.Spec.InitContainers[i]; !containers.Sidecar(c) && isEtcdImage(c.Image) && copiesEtcd(pod, c) {
			return fmt.Sprintf("init container %s copies etcd from image %s", c.Name, c.Image)
		}
	}
	return ""
}

// copiesEtcd reports whether the command of a container has the path of etcd's program and executes another program.
func copiesEtcd(pod *corev1.Pod, c *corev1.Container) bool {
	if started := startedIn(pod, c, nil).Program; started == "etcd" || notMembers[started] {
		return false
	}
	paths := strings.FieldsFunc(strings.Join(slices.Concat(c.Command, c.Args), " "), func(r rune) bool {
		return strings.ContainsRune(" \t\n=;&|'\"", r)
	})
	return slices.ContainsFunc(paths, func(w string) bool { return path.IsAbs(w) && path.Base(w) == "etcd" })
}
