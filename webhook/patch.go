// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import "strings"

// annotationPath returns the JSON pointer to an annotation.
func annotationPath(key string) string { return "/metadata/annotations/" + pointerKey(key) }

// pointerKey escapes the slash in a key for a JSON pointer. Keys of Kubernetes have no
// tilde.
func pointerKey(key string) string { return strings.ReplaceAll(key, "/", "~1") }
