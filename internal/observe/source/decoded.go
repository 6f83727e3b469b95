// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"
	"hash/maphash"
	"sync"
)

// mostDecoded is how many decoded texts are kept. Together with mostKept it bounds the memory.
const mostDecoded = 4096

// decoded keeps what texts that keep has recorded decode to: each review and each event reads those of
// all StatefulSets of a namespace. The zero value is empty.
type decoded[T any] struct {
	mu     sync.Mutex
	byText map[uint64]T
}

var (
	decodedPeers decoded[Peers]
	textSeed     = maphash.MakeSeed()
)

// of returns what a text decodes to, which must not be changed.
func (d *decoded[T]) of(text string) T {
	key := maphash.String(textSeed, text)
	d.mu.Lock()
	defer d.mu.Unlock()
	if value, known := d.byText[key]; known {
		return value
	}
	var value T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return value // only keep writes it
	}
	if d.byText == nil || len(d.byText) >= mostDecoded {
		d.byText = map[uint64]T{}
	}
	d.byText[key] = value
	return value
}
