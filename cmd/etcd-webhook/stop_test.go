// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// elected leads until its context ends, as the leader's manager does.
type elected struct{ until chan time.Time }

func (e elected) Start(ctx context.Context) error {
	<-ctx.Done()
	e.until <- time.Now()
	return nil
}

// TestLeadsNoLongerThanTold: a program that is told to end gives its lease back at once,
// and answers reviews for longer.
func TestLeadsNoLongerThanTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told, tell := context.WithCancel(t.Context())
		answers, e := outlive(told, answersOn), elected{make(chan time.Time, 1)}
		ended := make(chan error, 1)
		go func() { ended <- lead(told, e)(answers) }()

		time.Sleep(time.Hour)
		synctest.Wait()
		if answers.Err() != nil || len(ended) > 0 {
			t.Fatal("it ends without being told")
		}
		at := time.Now()
		tell()
		if err := <-ended; err != nil || !(<-e.until).Equal(at) {
			t.Errorf("it led on: %v", err)
		}
		<-answers.Done()
		if after := time.Since(at); after != answersOn {
			t.Errorf("it answered for %s more", after)
		}
	})
}

// TestLeadsWhileItAnswers: what stops the answers ends the lead, too, and a lease that
// is lost is told of.
func TestLeadsWhileItAnswers(t *testing.T) {
	t.Parallel()
	answers, stop := context.WithCancel(t.Context())
	stop()
	if err := lead(t.Context(), elected{make(chan time.Time, 1)})(answers); err != nil {
		t.Error(err)
	}
	lost := errors.New("the lease is lost")
	if err := lead(t.Context(), loser{lost})(t.Context()); !errors.Is(err, lost) {
		t.Errorf("said %v", err)
	}
}

type loser struct{ err error }

func (l loser) Start(context.Context) error { return l.err }
