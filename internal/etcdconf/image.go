// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"path"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// etcdTag is the tag of an image whose tag is etcd's version: v3.6.5, 3.6.8-0,
// 3.5.21-debian-12-r5. Another minor than 3 has never been.
var etcdTag = regexp.MustCompile(`^v?(3\.\d+\.\d+)(?:$|[-_.+])`)

// ImageVersion returns the version of etcd in the tag of a pod's image. It is empty where the tag has
// the version of another program, such as druid's etcd-wrapper or kOps' etcd-manager.
func ImageVersion(pod *corev1.Pod) string {
	c := MemberOf(pod).Container
	if c == nil {
		return ""
	}
	image, _, _ := strings.Cut(c.Image, "@")
	name, tag, _ := strings.Cut(path.Base(image), ":")
	if name != "etcd" && !strings.HasPrefix(name, "etcd-") || name == "etcd-wrapper" || isLauncherImage(image) {
		return ""
	}
	if m := etcdTag.FindStringSubmatch(tag); m != nil {
		return m[1]
	}
	return ""
}

// ImageVersions returns the versions of several pods, each once, in order. It is empty where the
// version of any of them is unknown.
func ImageVersions(pods []*corev1.Pod) []string {
	var versions []string
	for _, pod := range pods {
		v := ImageVersion(pod)
		if v == "" {
			return nil
		}
		if !slices.Contains(versions, v) {
			versions = append(versions, v)
		}
	}
	slices.Sort(versions)
	return versions
}
