// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"strings"

	appsv1 "k8s.io/api/apps/v1"
)

// deploymentVersion returns the tag of the image of a Deployment's first container. Without a
// tag it returns the digest, and without both "latest".
func deploymentVersion(d *appsv1.Deployment) string {
	containers := d.Spec.Template.Spec.Containers
	if len(containers) == 0 {
		return "unknown"
	}
	image, digest, pinned := strings.Cut(containers[0].Image, "@")
	// A colon before the last slash belongs to the registry's port.
	if _, tag, tagged := strings.Cut(image[strings.LastIndex(image, "/")+1:], ":"); tagged {
		return tag
	}
	if pinned {
		return digest
	}
	return "latest"
}
