// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package ui

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// Progress shows the progress of a long transfer on stderr. On a terminal it is a bar,
// elsewhere a line every ten seconds.
type Progress struct {
	out   io.Writer
	clock clock.WithTicker
	what  string
	// columns is the width of the terminal, 0 without one.
	columns int
	began   time.Time
	stop    chan struct{}
	stopped sync.WaitGroup

	mu          sync.Mutex
	done, total int64
}

// NewProgress starts to show a transfer of total bytes, 0 if the total is unknown. The caller
// must call Finish. The methods are safe for concurrent use.
func (c *Console) NewProgress(what string, total int64) *Progress {
	p := &Progress{
		out: c.ErrOut, clock: clock.RealClock{}, what: oneLine(c.text(what)), columns: Width(c.ErrOut), total: total,
		began: clock.RealClock{}.Now(), stop: make(chan struct{}),
	}
	every := 10 * time.Second
	if p.columns > 0 {
		every = 200 * time.Millisecond
	}
	p.stopped.Go(func() { p.draw(p.clock.NewTicker(every)) })
	return p
}

// Add counts transferred bytes.
func (p *Progress) Add(bytes int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done += bytes
}

// Finish removes the bar. The caller reports the result.
func (p *Progress) Finish() {
	close(p.stop)
	p.stopped.Wait()
	if p.columns > 0 {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}

func (p *Progress) draw(ticker clock.Ticker) {
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case now := <-ticker.C():
			p.mu.Lock()
			text := p.text(now.Sub(p.began))
			p.mu.Unlock()
			if p.columns > 0 {
				text = "\r" + text + "\x1b[K"
			} else {
				text += "\n"
			}
			fmt.Fprint(p.out, text)
		}
	}
}

// text returns the state after a time: "snapshot  412.0 MiB of 1.0 GiB, 40%, 98.1 MiB/s, 6s left".
func (p *Progress) text(after time.Duration) string {
	rate := float64(p.done) / max(after.Seconds(), 0.001)
	if p.total <= 0 {
		return p.oneLine(fmt.Sprintf("%s  %s, %s/s", p.what, policy.Bytes(p.done), policy.Bytes(int64(rate))))
	}
	share := min(1, float64(p.done)/float64(p.total))
	left := "?"
	if rate > 0 {
		left = time.Duration(float64(p.total-min(p.done, p.total)) / rate * float64(time.Second)).Round(time.Second).String()
	}
	numbers := fmt.Sprintf("%s of %s, %2.0f%%, %s/s, %s left", policy.Bytes(p.done), policy.Bytes(p.total), 100*share, policy.Bytes(int64(rate)), left)
	room := p.columns - len(p.what) - len(numbers) - 7
	if room < 8 {
		return p.oneLine(p.what + "  " + numbers)
	}
	room = min(room, 40)
	full := int(share * float64(room))
	return fmt.Sprintf("%s  [%s%s]  %s", p.what, strings.Repeat("=", full), strings.Repeat(" ", room-full), numbers)
}

// oneLine shortens a text to one line of the terminal, because a wrapped line can't be
// overwritten.
func (p *Progress) oneLine(text string) string {
	if p.columns == 0 {
		return text
	}
	return Shorten(text, p.columns-1)
}
