// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package recover

import (
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// hurried is a clock whose waits end at once.
type hurried struct{ clock.RealClock }

func (hurried) After(time.Duration) <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}

// TestAskAgain: that a member with the only data doesn't answer is believed only after several tries.
func TestAskAgain(t *testing.T) {
	t.Parallel()
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	for _, row := range []struct {
		answers []policy.Reason
		asked   int
	}{
		{[]policy.Reason{rules.SurvivorsRecover}, 1},
		{[]policy.Reason{rules.DataMayReturn}, 1},
		{[]policy.Reason{rules.SurvivorSilent, rules.SurvivorsRecover}, 2},
		{[]policy.Reason{rules.NoSurvivor, rules.SurvivorSilent, rules.SurvivorsRecover}, 3},
		{[]policy.Reason{rules.SurvivorSilent, rules.SurvivorSilent, rules.SurvivorSilent, rules.SurvivorSilent}, askTries},
		{[]policy.Reason{rules.NoSurvivor, rules.NoSurvivor, rules.NoSurvivor, rules.NoSurvivor}, askTries},
	} {
		a := app.New(streams)
		a.Clock = hurried{}
		asked := 0
		_, v, err := askAgain(t.Context(), a, func() ([]string, policy.Verdict, error) {
			asked++
			return nil, policy.Verdict{Reason: row.answers[asked-1]}, nil
		})
		if err != nil || asked != row.asked || v.Reason != row.answers[len(row.answers)-1] {
			t.Errorf("%v: asked %d times, want %d: %s (%v)", row.answers, asked, row.asked, v.Reason, err)
		}
	}
}
