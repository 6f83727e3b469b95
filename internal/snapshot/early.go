// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import "os"

// earlyStep is after how many bytes the system is asked to write them out.
const earlyStep = 8 << 20

// earlyWriter has the system write to disk while more is coming in, so that
// little is left to wait for at the end.
type earlyWriter struct {
	file        *os.File
	at, started int64
	// hints are ranges to write out, taken by a goroutine of their own: where the
	// disk is busy, the hint itself waits for it.
	hints chan [2]int64
	done  chan struct{}
}

func newEarlyWriter(f *os.File) *earlyWriter {
	e := &earlyWriter{file: f, hints: make(chan [2]int64, 1), done: make(chan struct{})}
	go func() {
		defer close(e.done)
		for h := range e.hints {
			startWriting(f, h[0], h[1])
		}
	}()
	return e
}

// close ends the hints; it doesn't wait for the disk.
func (e *earlyWriter) close() {
	close(e.hints)
	<-e.done
}

func (e *earlyWriter) Write(p []byte) (int, error) {
	n, err := e.file.Write(p)
	e.at += int64(n)
	if e.at-e.started >= earlyStep {
		select {
		case e.hints <- [2]int64{e.started, e.at - e.started}:
			e.started = e.at
		default: // the disk is behind already
		}
	}
	return n, err
}
