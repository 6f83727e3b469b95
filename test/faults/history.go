// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// now returns the time.
func now() time.Time {
	return time.Now() //nolint:forbidigo // the events of real clusters have real times
}

// history is what happened in a sequence, with times.
type history struct {
	log func(line string) // gets the lines of steps at once; others are only for reports

	mu    sync.Mutex
	lines []string
}

// did records what a step did.
func (h *history) did(format string, args ...any) { h.log(h.add("", format, args...)) }

// saw records an observation.
func (h *history) saw(format string, args ...any) { h.add("    ", format, args...) }

func (h *history) add(indent, format string, args ...any) string {
	line := now().Format("15:04:05.000 ") + indent + fmt.Sprintf(format, args...)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, line)
	return line
}

// String returns all lines.
func (h *history) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.lines, "\n")
}
