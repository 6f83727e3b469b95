// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
)

// hashOf identifies what this command wants of a CronJob. Another hash at the CronJob means that an option was changed
// or removed, which a comparison with the wanted fields alone does not find.
func hashOf(spec batchv1.CronJobSpec) string {
	text, _ := json.Marshal(spec) // always possible
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// includes reports whether a CronJob has all that is wanted. What webhooks and the API server add to it does not count:
// volumes, variables, tolerations, containers, defaults.
func includes(found, wanted batchv1.CronJobSpec) bool {
	return covers(generic(found), generic(wanted))
}

func generic(spec batchv1.CronJobSpec) (out any) {
	text, _ := json.Marshal(spec)  // always possible
	_ = json.Unmarshal(text, &out) // its own output
	return out
}

// covers reports whether a JSON value has all of another: an object its fields, a list of objects each of its objects
// in any order. Other lists, such as arguments, and single values are equal.
func covers(found, wanted any) bool {
	switch w := wanted.(type) {
	case map[string]any:
		f, ok := found.(map[string]any)
		for key, value := range w {
			ok = ok && covers(f[key], value)
		}
		return ok
	case []any:
		f, ok := found.([]any)
		if len(w) == 0 || !isObject(w[0]) {
			return reflect.DeepEqual(found, wanted)
		}
		for _, value := range w {
			ok = ok && slices.ContainsFunc(f, func(other any) bool { return covers(other, value) })
		}
		return ok
	}
	return reflect.DeepEqual(found, wanted)
}

func isObject(value any) bool {
	_, ok := value.(map[string]any)
	return ok
}
