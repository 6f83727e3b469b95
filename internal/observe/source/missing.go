// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"hash/maphash"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
)

const (
	// missingFor is how long an owner that wasn't there is not asked for again.
	missingFor = 2 * time.Second
	// mostMissing is how many of them are remembered. Others are asked for each time.
	mostMissing = 10_000
)

// Missing remembers for a moment which owners that objects name are not there, so that not each event of
// such an object reads the API server. The UID is part of the key: an owner that is created again is
// another one. It remembers hashes alone, since any user may write the names. A nil Missing remembers
// nothing. It is safe for concurrent use.
type Missing struct {
	clock clock.PassiveClock
	seed  maphash.Seed

	mu    sync.Mutex
	since map[uint64]time.Time
	swept time.Time
}

// missingOwner is what identifies an owner.
type missingOwner struct{ version, kind, namespace, name, uid string }

// NewMissing returns an empty Missing.
func NewMissing(now clock.PassiveClock) *Missing {
	return &Missing{clock: now, seed: maphash.MakeSeed(), since: map[uint64]time.Time{}}
}

// Has reports whether an owner was not there a moment ago.
func (m *Missing) Has(namespace string, ref *metav1.OwnerReference) bool {
	if m == nil {
		return false
	}
	key := m.key(namespace, ref)
	m.mu.Lock()
	defer m.mu.Unlock()
	since, known := m.since[key]
	return known && m.clock.Since(since) < missingFor
}

// Add remembers that an owner is not there.
func (m *Missing) Add(namespace string, ref *metav1.OwnerReference) {
	if m == nil {
		return
	}
	key := m.key(namespace, ref)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.sweep()
	if len(m.since) < mostMissing {
		m.since[key] = m.clock.Now()
	}
}

func (m *Missing) key(namespace string, ref *metav1.OwnerReference) uint64 {
	return maphash.Comparable(m.seed, missingOwner{ref.APIVersion, ref.Kind, namespace, ref.Name, string(ref.UID)})
}

// sweep removes what is too old, once in a while.
func (m *Missing) sweep() {
	if m.clock.Since(m.swept) < missingFor {
		return
	}
	m.swept = m.clock.Now()
	for key, since := range m.since {
		if m.clock.Since(since) >= missingFor {
			delete(m.since, key)
		}
	}
}
