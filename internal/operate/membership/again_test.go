// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// TestNoStepSpins: a step that another client undoes, so that it is due again at once, is done only once per pause.
func TestNoStepSpins(t *testing.T) {
	t.Parallel()
	w := newWriting(t, partitioned)
	if err := w.m.Begin(t.Context(), w.j, false); err != nil {
		t.Fatal(err)
	}
	w.Refuse = func(method, path string) int {
		if now := operatetest.Field(w.Get(setAt), "spec", "updateStrategy", "rollingUpdate")["partition"]; method == http.MethodGet && path == setAt && fmt.Sprint(now) != "3" {
			w.edit(setAt, func(o apitest.Object) {
				operatetest.Field(o, "spec", "updateStrategy", "rollingUpdate")["partition"] = 3.0
			})
		}
		return 0
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	enough, pauses := errors.New("enough"), 0
	ctx, stop := context.WithCancelCause(ctx)
	w.m.Clock = pauseCounter{HastyClock: &operatetest.HastyClock{}, paused: func() {
		if pauses++; pauses == 5 {
			stop(enough)
		}
	}}
	var logged []string
	w.m.Logf = func(format string, args ...any) { logged = append(logged, fmt.Sprintf(format, args...)) }
	if err := w.m.Undo(ctx, w.j, true); !errors.Is(err, enough) {
		t.Fatalf("%d pauses, %d writes: %v", pauses, len(w.Writes()), err)
	}
	patches := slices.DeleteFunc(w.Writes(), func(r string) bool { return r != http.MethodPatch+" "+setAt })
	t.Logf("%d writes of the StatefulSet and %d pauses: %q", len(patches), pauses, logged)
	if len(patches) > 2+pauses {
		t.Errorf("%d writes of the StatefulSet and %d pauses: %q", len(patches), pauses, logged)
	}
}

// pauseCounter calls paused at each wait.
type pauseCounter struct {
	*operatetest.HastyClock

	paused func()
}

func (c pauseCounter) After(d time.Duration) <-chan time.Time {
	c.paused()
	return c.HastyClock.After(d)
}
