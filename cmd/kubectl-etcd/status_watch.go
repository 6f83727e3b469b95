// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// watchStatus looks until the context ends, which is no error. A look that fails
// is told, and the next one may succeed.
func (e *env) watchStatus(ctx context.Context, cmd *cobra.Command, v *viewer, every time.Duration) error {
	w := watcher{env: e, cmd: cmd}
	_, w.redraws = terminal(e.Out)
	w.redraws = w.redraws && w.drawn()
	for {
		seen, err := v.look(ctx)
		switch {
		case ctx.Err() != nil:
			return interrupted()
		case err != nil && w.last == nil:
			return err // not even once: a target that isn't there
		case err != nil:
			w.complain(err)
		default:
			if err := w.show(seen); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return interrupted()
		case <-e.clock.After(every):
		}
	}
}

// interrupted is how watching ends: as it should.
func interrupted() error { return nil }

// watcher prints one look after the other.
type watcher struct {
	env     *env
	cmd     *cobra.Command
	redraws bool
	last    *v1alpha1.EtcdClusterStatus
	failure string
}

// complain tells once that a look failed.
func (w *watcher) complain(err error) {
	if w.failure != err.Error() {
		w.env.warn("%v.", err)
	}
	w.failure = err.Error()
}

// drawn says that a person reads what is printed, and no program.
func (w *watcher) drawn() bool { return formatOf(w.cmd) == "table" || formatOf(w.cmd) == "wide" }

func (w *watcher) show(seen sight) error {
	w.failure = ""
	st := statusOf(seen)
	if w.redraws {
		w.last = st
		return w.redraw(st)
	}
	if w.last != nil && equality.Semantic.DeepEqual(steady(w.last), steady(st)) {
		return nil
	}
	switch {
	case w.last == nil:
	case w.drawn(), formatOf(w.cmd) == "yaml":
		fmt.Fprintln(w.env.Out, "---")
	case formatOf(w.cmd) != "json" && formatOf(w.cmd) != "name":
		fmt.Fprintln(w.env.Out) // templates end without
	}
	w.last = st
	return w.env.printStatus(w.cmd, st)
}

// redraw writes over what the terminal shows. Lines that don't fit are left out:
// they would scroll it.
func (w *watcher) redraw(st *v1alpha1.EtcdClusterStatus) error {
	c := w.env.canvas(w.env.Out)
	fmt.Fprintf(c, "%s\n", w.env.paint(c, dim, "every look is drawn over the last, Ctrl-C ends; now "+st.Time.Local().Format(time.TimeOnly)))
	if err := renderStatus(w.env, c, st, formatOf(w.cmd) == "wide"); err != nil {
		return err
	}
	lines := strings.Split(strings.TrimRight(c.String(), "\n"), "\n")
	if c.rows > 1 && len(lines) > c.rows-1 {
		cut := len(lines) - c.rows + 2
		lines = append(lines[:c.rows-2], w.env.paint(c, dim, fmt.Sprintf("%d more lines: make the window higher", cut)))
	}
	var out bytes.Buffer
	out.WriteString("\x1b[H")
	for _, l := range lines {
		out.WriteString(l + "\x1b[K\n")
	}
	out.WriteString("\x1b[J")
	_, err := w.env.Out.Write(out.Bytes())
	return err
}

// steady is a status without what changes by itself while nothing happens.
func steady(st *v1alpha1.EtcdClusterStatus) *v1alpha1.EtcdClusterStatus {
	s := st.DeepCopy()
	s.Time.Reset()
	s.Revision = 0
	s.Backup.Full, s.Backup.Delta, s.Backup.Last = nil, nil, nil
	if s.UnderWay != nil {
		s.UnderWay.Renewed = nil
	}
	for i := range s.Conditions {
		s.Conditions[i].Confirmed = nil
	}
	for i := range s.Members {
		m := &s.Members[i]
		m.RaftIndex, m.RaftApplied, m.DBSize, m.DBSizeInUse, m.Lag = 0, 0, 0, 0, nil
	}
	for i := range s.Problems {
		// Their messages have ages and sizes.
		s.Problems[i].Message = ""
	}
	return s
}
