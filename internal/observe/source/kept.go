// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keptPrefix is the beginning of the annotations that keep writes. The API server accepts no such key,
// so no client can write one.
const keptPrefix = "kubectl-etcd:"

// keep records a value on an object of the cache, before what shows it is dropped. A value that is there
// stays, so that an object that was kept before is not read again.
func keep[T any, O metav1.Object](o O, key string, read func(O) T) {
	annotations := o.GetAnnotations()
	if _, cached := annotations[keptPrefix+key]; cached {
		return
	}
	text, err := json.Marshal(read(o))
	if err != nil {
		text = []byte("null")
	}
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[keptPrefix+key] = string(text)
	o.SetAnnotations(annotations)
}

// kept returns what keep has recorded, which must not be changed. It returns false for an object that is
// not of the cache.
func kept[T any](o metav1.Object, key string) (value T, cached bool) {
	text, cached := o.GetAnnotations()[keptPrefix+key]
	if !cached {
		return value, false
	}
	return decode[T](text), true
}

// fits reports whether a value is short enough to be kept.
func fits(value any) bool {
	text, err := json.Marshal(value)
	return err == nil && len(text) <= mostKept
}
