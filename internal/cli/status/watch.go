// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/render"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/gather"
	"github.com/kubectl-etcd/kubectl-etcd/internal/health/view"
)

// watch prints the status until the context ends, which is no error. It reports a failed
// observation and continues.
func watch(ctx context.Context, a *app.App, cmd *cobra.Command, v *gather.Observer, every time.Duration) error {
	w := watcher{app: a, cmd: cmd}
	_, w.redraws = ui.Terminal(a.Out)
	w.redraws = w.redraws && ui.ForPeople(w.cmd)
	for {
		seen, err := v.Observe(ctx)
		switch {
		case ctx.Err() != nil:
			return nil //nolint:nilerr // the user ended the command
		case err != nil && w.last == nil:
			return err // the first observation failed, for example because there is no such target
		case err != nil:
			w.warnOnce(err)
		default:
			if err := w.show(seen); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return nil
		case <-a.Clock.After(every):
		}
	}
}

// watcher prints each status that differs from the last one.
type watcher struct {
	app     *app.App
	cmd     *cobra.Command
	redraws bool
	last    *v1alpha1.EtcdClusterStatus
	failure string
}

// warnOnce warns about a failed observation, unless the last one failed with the same message.
func (w *watcher) warnOnce(err error) {
	if w.failure != err.Error() {
		w.app.Warn("%v.", err)
	}
	w.failure = err.Error()
}

func (w *watcher) show(seen *health.Facts) error {
	w.failure = ""
	st := view.StatusOf(seen)
	if w.redraws {
		w.last = st
		return w.redraw(st)
	}
	if w.last != nil && !view.Changed(w.last, st) {
		return nil
	}
	if w.last != nil {
		fmt.Fprint(w.app.Out, ui.Separator(w.cmd))
	}
	w.last = st
	return w.app.Print(w.cmd, st, render.Status(w.app.Console, st))
}

// redraw overwrites the terminal with a status.
func (w *watcher) redraw(st *v1alpha1.EtcdClusterStatus) error {
	c := w.app.Screen(w.app.Out)
	if err := w.app.Line(c, ui.Cell{Text: "press Ctrl-C to stop; last refresh " + st.Time.Local().Format(time.TimeOnly), Color: ui.Dim}); err != nil { //nolint:forbidigo // the time of this machine's user, on a screen that is drawn again
		return err
	}
	if err := render.Status(w.app.Console, st)(c, ui.FormatOf(w.cmd) == "wide"); err != nil {
		return err
	}
	return w.app.Redraw(w.app.Out, c)
}
