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

// TestLeadsNoLongerThanTold: a program that is told to end gives its lease back at once,
// and answers reviews for longer.
func TestLeadsNoLongerThanTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told, tell := context.WithCancel(t.Context())
		answers, e := outlive(told, answersOn), elected{make(chan time.Time, 1)}
		ended := make(chan error, 1)
		go func() { ended <- lead(told, e, &leaseLost{})(answers) }()

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

// TestLeadsWhileItAnswers: what stops the answers ends the lead, too.
func TestLeadsWhileItAnswers(t *testing.T) {
	t.Parallel()
	answers, stop := context.WithCancel(t.Context())
	stop()
	if err := lead(t.Context(), elected{make(chan time.Time, 1)}, &leaseLost{})(answers); err != nil {
		t.Error(err)
	}
}

// TestAnswersOnWithoutItsLease: a leader that has lost its lease isn't ready any more, and
// answers for as long as one that was told to end.
func TestAnswersOnWithoutItsLease(t *testing.T) {
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
			t.Errorf("said %v", err)
		}
		if after := time.Since(at); after != answersOn {
			t.Errorf("it answered for %s more", after)
		}
	})
}

type loser struct{ err error }

func (l loser) Start(context.Context) error { return l.err }

// TestGraceIsEnough: the pod's grace period covers all that a replica does at its end.
func TestGraceIsEnough(t *testing.T) {
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
	if needs := answersOn + shutdownLimit; grace == nil || time.Duration(*grace)*time.Second <= needs {
		t.Errorf("the Deployment gives a replica %v s, which needs more than %s", grace, needs)
	}
}
