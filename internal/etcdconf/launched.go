// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"cmp"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// mayBeMounted reports whether a container may have a program from a volume, so that its image doesn't decide what it does.
// A program without a folder is one of PATH, and so of the image. Where the container's working directory is not
// known, any mount may have a path that is relative to it.
func mayBeMounted(c *corev1.Container, program string) bool {
	if !strings.Contains(program, "/") {
		return false
	}
	if !path.IsAbs(program) {
		if c.WorkingDir == "" {
			return len(c.VolumeMounts) > 0
		}
		program = path.Join(c.WorkingDir, program)
	}
	mount, _ := MountAt(c, program)
	return mount != nil
}

// launcherOf returns the program that starts etcd, or "the image", where the container doesn't show that it
// executes etcd itself. Such a program may give etcd settings that the container doesn't have. It returns nothing
// for etcd, for an image called etcd, whose program is etcd, and for Bitnami's image, which gives etcd nothing beside its
// variables.
func launcherOf(c *corev1.Container, started script.Invocation, contents Contents) string {
	switch {
	case started.Program == "etcd" && (!started.OfImage || isEtcdImage(c.Image)),
		started.Program == "" && imageName(c.Image) == "etcd", completeEnv(c, started, contents):
		return ""
	case started.Program == "etcd":
		return theImage
	}
	return script.Cut(cmp.Or(started.Path, started.Program, theImage))
}

// theImage stands for a program that only the image names.
const theImage = "the image"

// completeEnv reports whether the variables of a container are all that its program gives to etcd. Manifests of
// Bitnami's image without ETCD_ON_K8S may have a script of their own instead of the image's.
func completeEnv(c *corev1.Container, started script.Invocation, contents Contents) bool {
	complete, ofImage := false, started.Program == "" || started.OfImage
	variableNames(c, contents, func(name string) {
		complete = complete || name == "ETCD_ON_K8S" || ofImage && (name == "ALLOW_NONE_AUTHENTICATION" || name == "ETCD_ROOT_PASSWORD" || name == "ETCD_ROOT_PASSWORD_FILE")
	})
	return complete
}
