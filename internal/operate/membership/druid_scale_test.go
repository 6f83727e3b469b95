// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package membership

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// TestPlanDruidScaleToZero: no caller gets a plan to stop all members without a snapshot.
func TestPlanDruidScaleToZero(t *testing.T) {
	t.Parallel()
	_, m := newDruid(t)
	_, err := m.PlanDruidScale(t.Context(), 0, "")
	if !errors.As(err, new(*operate.RefusedError)) || !strings.Contains(err.Error(), "to 0 members without a snapshot") {
		t.Errorf("got %v", err)
	}
}

// TestScaleDruidRequested: a requested scale is reported once, after all writes and before the wait, which it decides
// about. A scale that is denied is not reported.
func TestScaleDruidRequested(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name          string
		wait, refused bool
		calls         int
	}{
		{name: "no wait", calls: 1},
		{name: "wait", wait: true, calls: 1},
		{name: "denied", refused: true},
	} {
		w, m := newDruid(t)
		ctx, cancel := context.WithCancel(t.Context())
		if row.refused {
			w.Refuse = func(string, string) int { return 403 }
		}
		calls := 0
		err := m.ScaleDruid(ctx, 5, func(context.Context) bool {
			if calls++; len(w.Writes()) != 2 {
				t.Errorf("%s: reported after %q", row.name, w.Writes())
			}
			cancel() // what is awaited never comes
			return row.wait
		})
		if calls != row.calls || (err != nil) != (row.wait || row.refused) || row.wait && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %d reports, %v", row.name, calls, err)
		}
		cancel()
	}
}
