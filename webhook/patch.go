// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"strings"

	"gomodules.xyz/jsonpatch/v2"
)

// annotationPath returns the JSON pointer to an annotation.
func annotationPath(key string) string { return "/metadata/annotations/" + pointerKey(key) }

// pointerKey escapes the slash in a key for a JSON pointer. Keys of Kubernetes have no
// tilde.
func pointerKey(key string) string { return strings.ReplaceAll(key, "/", "~1") }

// annotationPatch gives an object the wanted annotations among the keys of a record, and removes the others of these
// keys. It is empty if the object has them so.
func annotationPatch(have, want map[string]string, keys []string) []jsonpatch.Operation {
	switch {
	case len(have) == 0 && len(want) == 0:
		return nil
	case len(have) == 0:
		return []jsonpatch.Operation{jsonpatch.NewOperation("add", "/metadata/annotations", want)}
	}
	var ops []jsonpatch.Operation
	for _, key := range keys {
		has, there := have[key]
		switch wanted, needed := want[key]; {
		case needed && has != wanted:
			ops = append(ops, jsonpatch.NewOperation("add", annotationPath(key), wanted))
		case there && !needed:
			ops = append(ops, jsonpatch.NewOperation("remove", annotationPath(key), nil))
		}
	}
	return ops
}
