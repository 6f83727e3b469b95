// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/manifests"
)

// elected leads until its context ends, as the leader's manager does.
type elected struct{ until chan time.Time }

func (e elected) Start(ctx context.Context) error {
	<-ctx.Done()
	e.until <- time.Now()
	return nil
}

// TestStop checks that a program releases its lease at once after a signal to stop, and answers
// reviews for longer.
func TestStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stopped, stop := context.WithCancel(t.Context())
		reviews, e := withDelayedCancel(stopped, reviewGrace), elected{make(chan time.Time, 1)}
		ended := make(chan error, 1)
		go func() { ended <- lead(stopped, e, &leaseLost{})(reviews) }()

		time.Sleep(time.Hour)
		synctest.Wait()
		if reviews.Err() != nil || len(ended) > 0 {
			t.Fatal("it stops without a signal")
		}
		at := time.Now()
		stop()
		if err := <-ended; err != nil || !(<-e.until).Equal(at) {
			t.Errorf("it still leads: %v", err)
		}
		<-reviews.Done()
		if after := time.Since(at); after != reviewGrace {
			t.Errorf("it answered for %s more", after)
		}
	})
}

// TestStopOfReviews checks that the leader stops with the manager that answers reviews.
func TestStopOfReviews(t *testing.T) {
	t.Parallel()
	reviews, stop := context.WithCancel(t.Context())
	stop()
	if err := lead(t.Context(), elected{make(chan time.Time, 1)}, &leaseLost{})(reviews); err != nil {
		t.Error(err)
	}
}

// TestLeaseLost checks that a leader that has lost its lease isn't ready any more, and answers
// reviews for as long as after a signal to stop.
func TestLeaseLost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		why, lost, ended := errors.New("the lease is lost"), &leaseLost{}, make(chan error, 1)
		if err := lost.check(nil); err != nil {
			t.Errorf("before: %v", err)
		}
		at := time.Now()
		go func() { ended <- lead(t.Context(), loser{why}, lost)(t.Context()) }()
		synctest.Wait()
		if lost.check(nil) == nil || len(ended) > 0 {
			t.Error("it is ready, or has ended")
		}
		if err := <-ended; !errors.Is(err, why) {
			t.Errorf("returned %v", err)
		}
		if after := time.Since(at); after != reviewGrace {
			t.Errorf("it answered for %s more", after)
		}
	})
}

type loser struct{ err error }

func (l loser) Start(context.Context) error { return l.err }

// TestGracePeriod checks that the pod's grace period is longer than the shutdown of a replica.
func TestGracePeriod(t *testing.T) {
	t.Parallel()
	text, err := manifests.Files.ReadFile("base/deployment.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var deployment appsv1.Deployment
	if err := yaml.Unmarshal(text, &deployment); err != nil {
		t.Fatal(err)
	}
	grace := deployment.Spec.Template.Spec.TerminationGracePeriodSeconds
	if needs := reviewGrace + shutdownLimit; grace == nil || time.Duration(*grace)*time.Second <= needs {
		t.Errorf("the Deployment gives a replica %v s, which needs more than %s", grace, needs)
	}
}
