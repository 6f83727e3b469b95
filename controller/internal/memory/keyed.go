// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package memory holds what a controller remembers between reconciliations. It is lost with the
// leader, so it must not be what a decision depends on: that is recorded in the objects.
package memory

import (
	"maps"
	"sync"
)

// Keyed is a map of what a controller remembers of each object. The zero value is
// empty and ready; it is safe for concurrent use.
type Keyed[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]V
}

// Get returns the value of key and reports whether there is one.
func (k *Keyed[K, V]) Get(key K) (V, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	value, ok := k.values[key]
	return value, ok
}

// Update replaces the value of key by what change returns for it, and returns that. change
// gets the zero value if there is none, and must not call k.
func (k *Keyed[K, V]) Update(key K, change func(V) V) V {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.values == nil {
		k.values = map[K]V{}
	}
	k.values[key] = change(k.values[key])
	return k.values[key]
}

// Swap sets the value of key. It returns the previous one and reports whether there was one.
func (k *Keyed[K, V]) Swap(key K, value V) (previous V, existed bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	previous, existed = k.values[key]
	if k.values == nil {
		k.values = map[K]V{}
	}
	k.values[key] = value
	return previous, existed
}

// Remove removes key. It returns its value and reports whether there was one.
func (k *Keyed[K, V]) Remove(key K) (V, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	value, ok := k.values[key]
	delete(k.values, key)
	return value, ok
}

// Retain removes every key for which keep returns false.
func (k *Keyed[K, V]) Retain(keep func(K) bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	maps.DeleteFunc(k.values, func(key K, _ V) bool { return !keep(key) })
}

// All returns a copy of the map.
func (k *Keyed[K, V]) All() map[K]V {
	k.mu.Lock()
	defer k.mu.Unlock()
	return maps.Clone(k.values)
}
