// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"sync"
)

// wordsOfProgress shows on stderr what is being done, one line that is written
// over: for a person who waits, so only on a terminal. Any goroutine may call it.
type wordsOfProgress struct {
	mu      sync.Mutex
	out     io.Writer
	columns int
}

func (e *console) wordsOfProgress() *wordsOfProgress {
	return &wordsOfProgress{out: e.ErrOut, columns: width(e.ErrOut)}
}

func (p *wordsOfProgress) say(what string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.columns > 0 {
		fmt.Fprint(p.out, "\r"+shorten(what+" ...", p.columns-1)+"\x1b[K")
	}
}

// end takes the line away.
func (p *wordsOfProgress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.columns > 0 {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
