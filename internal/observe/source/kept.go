// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keep records a value on a StatefulSet of the cache, before what shows it is dropped. No client can
// write the annotation: the API server refuses its key. A value that is there stays, so that a
// StatefulSet that was kept before is not read again.
func keep[T any](sts *appsv1.StatefulSet, key string, read func(*appsv1.StatefulSet) T) {
	if _, cached := sts.Annotations[key]; cached {
		return
	}
	text, err := json.Marshal(read(sts))
	if err != nil {
		text = []byte("null")
	}
	metav1.SetMetaDataAnnotation(&sts.ObjectMeta, key, string(text))
}

// kept returns what keep has recorded. It returns false for a StatefulSet that is not of the cache.
func kept[T any](sts *appsv1.StatefulSet, key string) (value T, cached bool) {
	text, cached := sts.Annotations[key]
	if !cached {
		return value, false
	}
	var read T
	if err := json.Unmarshal([]byte(text), &read); err != nil {
		return value, true // only keep writes it
	}
	return read, true
}
