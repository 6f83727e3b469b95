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

// decoded keeps what the texts that keep has recorded decode to: each review and each event reads those of
// all StatefulSets of a namespace.
var decoded = struct {
	seed maphash.Seed

	mu     sync.Mutex
	byText map[uint64]any
}{seed: maphash.MakeSeed(), byText: map[uint64]any{}}

// decode returns what a text that keep has recorded decodes to, which must not be changed.
func decode[T any](text string) T {
	key := maphash.String(decoded.seed, text)
	decoded.mu.Lock()
	defer decoded.mu.Unlock()
	if value, is := decoded.byText[key].(T); is {
		return value
	}
	var value T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		return value // only keep writes it
	}
	if len(decoded.byText) >= mostDecoded {
		clear(decoded.byText)
	}
	decoded.byText[key] = value
	return value
}
