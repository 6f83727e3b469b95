// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"sync"
)

// keyed is a map of what a controller remembers of each object. The zero value is
// empty and ready; it is safe for concurrent use.
type keyed[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
}

// get returns the value of key and reports whether there is one.
func (k *keyed[K, V]) get(key K) (V, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	value, ok := k.values[key]
	return value, ok
}

// update replaces the value of key by what change returns for it, and returns that. change
// gets the zero value if there is none, and must not call k.
func (k *keyed[K, V]) update(key K, change func(V) V) V {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.values == nil {
		k.values = map[K]V{}
	}
	k.values[key] = change(k.values[key])
	return k.values[key]
}

// swap sets the value of key. It returns the previous one and reports whether there was one.
func (k *keyed[K, V]) swap(key K, value V) (previous V, existed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	previous, existed = k.values[key]
	if k.values == nil {
		k.values = map[K]V{}
	}
	k.values[key] = value
	return previous, existed
}

// remove removes key. It returns its value and reports whether there was one.
func (k *keyed[K, V]) remove(key K) (V, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	value, ok := k.values[key]
	delete(k.values, key)
	return value, ok
}

// retain removes every key for which keep returns false.
func (k *keyed[K, V]) retain(keep func(K) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.values, func(key K, _ V) bool { return !keep(key) })
}

// all returns a copy of the map.
func (k *keyed[K, V]) all() map[K]V {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.values)
}
