// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// heartbeat is how often a long build writes a line if lines can't be rewritten.
const heartbeat = 30 * time.Second

// report prints what is being built. On a terminal it keeps the running
// build's line up to date; elsewhere it writes a line when a build begins and
// ends, and in between now and then.
type report struct {
	w     io.Writer
	live  bool
	total int
	begun int
	now   func() time.Time

	mu sync.Mutex // held while a line is written
}

// newReport returns the report of a number of builds.
func newReport(w io.Writer, total int, now func() time.Time) *report {
	return &report{w: w, live: isTerminal(w), total: total, now: now}
}

// isTerminal reports whether lines on w can be rewritten.
func isTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

// step is one build of the report.
type step struct {
	report *report
	number int
	group  group
	since  time.Time
	done   chan struct{}
	beats  sync.WaitGroup

	mu       sync.Mutex
	building bool   // false while another process may be doing it
	packages int    // compiled so far
	note     string // what else goes on
}

// begin announces the next build.
func (r *report) begin(g group) *step {
	r.begun++
	s := &step{report: r, number: r.begun, group: g, since: r.now(), done: make(chan struct{})}
	every := heartbeat
	if r.live {
		every = time.Second
	}
	s.beats.Go(func() { s.beat(every) })
	return s
}

// beat prints the progress of the build until it ends.
func (s *step) beat(every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-s.done:
			return
		case <-ticker.C:
			s.write(s.state())
		}
	}
}

// started notes that this process builds, and no one else.
func (s *step) started() {
	s.mu.Lock()
	s.building = true
	s.mu.Unlock()
	if s.report.live {
		s.write(s.state())
		return
	}
	line := "building " + s.group.title()
	if len(s.group.programs) > 1 {
		line += ": " + strings.Join(s.group.names(), ", ")
	}
	s.write(line)
}

// compiled counts a package that is done.
func (s *step) compiled() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.packages++
	s.note = fmt.Sprintf(", %d packages compiled", s.packages)
}

// downloading notes a module that is being fetched.
func (s *step) downloading(module string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.note = ", downloading " + module
}

// state returns the running build in a line.
func (s *step) state() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	doing := "waiting for another process that builds"
	if s.building {
		doing = "building"
	}
	return fmt.Sprintf("%s %s … %s%s", doing, s.group.title(), s.elapsed(), s.note)
}

// end prints the result of the build.
func (s *step) end(err error) {
	close(s.done)
	s.beats.Wait()
	how := "built"
	switch {
	case err != nil:
		how = "could not build"
	case !s.building:
		how = "waited for"
	}
	s.write(fmt.Sprintf("%s %s in %s", how, s.group.title(), s.elapsed()))
	if s.report.live {
		fmt.Fprintln(s.report.w)
	}
}

// elapsed returns the time since the build began.
func (s *step) elapsed() time.Duration {
	return s.report.now().Sub(s.since).Round(time.Second)
}

// write writes one line, on a terminal over the one before.
func (s *step) write(line string) {
	line = fmt.Sprintf("[%d/%d] %s", s.number, s.report.total, line)
	s.report.mu.Lock()
	defer s.report.mu.Unlock()
	if s.report.live {
		fmt.Fprint(s.report.w, "\r\x1b[K"+line)
		return
	}
	fmt.Fprintln(s.report.w, line)
}
