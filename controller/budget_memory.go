// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"sync"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
)

// Findings are what was last found of each cluster's budget. A new leader finds
// it again. The zero value is ready; it is safe for concurrent use.
type Findings struct {
	mu sync.Mutex
	of map[observe.OwnerKey]v1alpha1.Finding
}

// Of is the finding on one cluster, false when there is none yet.
func (f *Findings) Of(key observe.OwnerKey) (v1alpha1.Finding, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	finding, ok := f.of[key]
	return finding, ok
}

func (f *Findings) set(key observe.OwnerKey, finding v1alpha1.Finding) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.of == nil {
		f.of = map[observe.OwnerKey]v1alpha1.Finding{}
	}
	f.of[key] = finding
}

func (f *Findings) drop(key observe.OwnerKey) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.of, key)
}

// said remembers which notes a person has been told of a cluster, so that each
// is told once for as long as it holds.
type said struct {
	mu sync.Mutex
	of map[observe.OwnerKey][]string
}

// fresh are the reasons that have not been told, and remembers all of them.
func (s *said) fresh(key observe.OwnerKey, reasons []string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range reasons {
		if !slices.Contains(s.of[key], r) && !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	if s.of == nil {
		s.of = map[observe.OwnerKey][]string{}
	}
	s.of[key] = reasons
	return out
}

func (s *said) drop(key observe.OwnerKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, key)
}

// So many resets of a budget within so long are a quarrel with whoever keeps
// it; one is an operator that wrote while admission was away.
const (
	quarrels    = 3
	quarrelTime = 10 * time.Minute
)

// rivals remembers when somebody loosened a cluster's budget past admission.
type rivals struct {
	mu sync.Mutex
	of map[observe.OwnerKey][]time.Time
}

func (r *rivals) note(key observe.OwnerKey, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.of == nil {
		r.of = map[observe.OwnerKey][]time.Time{}
	}
	r.of[key] = append(r.of[key], now)
}

// quarrel is for how long writing is of no use, since it happened so often; 0 for not.
func (r *rivals) quarrel(key observe.OwnerKey, now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.of[key]) == 0 {
		return 0
	}
	r.of[key] = slices.DeleteFunc(r.of[key], func(t time.Time) bool { return now.Sub(t) > quarrelTime })
	if n := len(r.of[key]); n >= quarrels {
		return r.of[key][n-quarrels].Add(quarrelTime).Sub(now) + time.Second
	}
	return 0
}

func (r *rivals) drop(key observe.OwnerKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.of, key)
}

// denied counts refused writes in a row.
type denied struct {
	mu sync.Mutex
	of map[observe.OwnerKey]int
}

// wait is how long to wait after one more refusal: 5 s, doubled up to 80 s.
func (d *denied) wait(key observe.OwnerKey) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of == nil {
		d.of = map[observe.OwnerKey]int{}
	}
	wait := 5 * time.Second << min(d.of[key], 4)
	d.of[key]++
	return wait
}

func (d *denied) drop(key observe.OwnerKey) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.of, key)
}
