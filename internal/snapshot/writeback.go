// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import "os"

// writebackStep is how many bytes are written between two requests to write them to disk.
const writebackStep = 8 << 20

// writebackHinter is a file that asks the system, while data is still being written, to write it to
// disk, so that the final sync is short.
type writebackHinter struct {
	file        *os.File
	at, started int64
	// hints are ranges to write out, taken by a goroutine of their own: where the
	// disk is busy, the hint itself waits for it.
	hints chan [2]int64
	done  chan struct{}
}

func newWritebackHinter(f *os.File) *writebackHinter {
	e := &writebackHinter{file: f, hints: make(chan [2]int64, 1), done: make(chan struct{})}
	go func() {
		defer close(e.done)
		for h := range e.hints {
			startWriting(f, h[0], h[1])
		}
	}()
	return e
}

// close ends the hints; it doesn't wait for the disk.
func (e *writebackHinter) close() {
	close(e.hints)
	<-e.done
}

func (e *writebackHinter) Write(p []byte) (int, error) {
	n, err := e.file.Write(p)
	e.at += int64(n)
	if e.at-e.started >= writebackStep {
		select {
		case e.hints <- [2]int64{e.started, e.at - e.started}:
			e.started = e.at
		default: // the disk is behind already
		}
	}
	return n, err
}
