// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restoring

import (
	"errors"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
)

// hurried is a clock whose waits end at once.
type hurried struct{ clock.RealClock }

func (hurried) After(time.Duration) <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}

// TestAskAgain: that members don't answer is believed only after several tries.
func TestAskAgain(t *testing.T) {
	t.Parallel()
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	for _, row := range []struct {
		again []bool
		fails error
		asked int
	}{
		{again: []bool{false}, asked: 1},
		{again: []bool{true, false}, asked: 2},
		{again: []bool{true, true, true, true}, asked: askTries},
		{again: []bool{true}, fails: errors.New("forbidden"), asked: 1},
	} {
		a := app.New(streams)
		a.Clock = hurried{}
		asked := 0
		err := AskAgain(t.Context(), a, func() (bool, error) {
			asked++
			return row.again[asked-1], row.fails
		})
		if !errors.Is(err, row.fails) || asked != row.asked {
			t.Errorf("%v: asked %d times, want %d (%v)", row.again, asked, row.asked, err)
		}
	}
}
