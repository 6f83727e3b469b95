// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// UnreadError is returned for an object that is not read. It may exist, and have any content.
type UnreadError struct{ Kind, Namespace, Name string }

func (e *UnreadError) Error() string {
	return fmt.Sprintf("%s %s/%s is not read", e.Kind, e.Namespace, e.Name)
}

// Unread returns the contents of no object of a namespace, for those who may not read them.
func Unread(namespace string) Contents {
	return func(kind, name string) (map[string][]byte, error) {
		return nil, &UnreadError{Kind: kind, Namespace: namespace, Name: name}
	}
}

// parseShown returns the configuration of a pod's etcd that the pod itself shows: it reads no
// object. Config.Unknown has the settings that an object, or only the pod, knows. One that a flag sets
// is known, whatever the variables are.
func parseShown(pod *corev1.Pod) (Config, error) {
	config, _, err := parsePod(pod, Unread(pod.Namespace))
	return config, err
}

// unresolved reports whether a text has a reference to a variable, or a command, that only the pod
// can expand.
func unresolved(text string) bool { return strings.ContainsAny(text, "$`") }

// IsKnownDir reports whether a directory of a container is known. One that isn't absolute depends on the
// container's working directory, which the image may set.
func IsKnownDir(dir string) bool { return path.IsAbs(dir) && !unresolved(dir) }
