// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"testing"
)

// agreement is a cluster whose members answer each question with the next error.
type agreement struct {
	Members

	waiting []error
	err     error
}

func (a *agreement) Agree(context.Context, int, int64) (waiting, err error) {
	if len(a.waiting) > 1 {
		defer func() { a.waiting = a.waiting[1:] }()
	}
	return a.waiting[0], a.err
}

// TestAgree: the members have some time to agree, and what they never will ends the wait.
func TestAgree(t *testing.T) {
	t.Parallel()
	w, act := newWorld(t), Agree{Target: "main", Size: 3}
	late := errors.New("member main-2 doesn't answer")
	w.clients.Etcd = &agreement{waiting: []error{late, late, nil}}
	w.do(t, act)
	w.clients.Etcd = &agreement{waiting: []error{late}}
	wantError(t, act.Do(t.Context(), w.clients), "wait for the members to agree: timed out after 5m: member main-2 doesn't answer")
	wantError(t, Agree{Target: "main", Size: 3, Unready: true}.Do(t.Context(), w.clients), "wait for the members to agree: timed out after 10m")
	w.clients.Etcd = &agreement{waiting: []error{nil}, err: errors.New("two clusters")}
	wantError(t, act.Do(t.Context(), w.clients), "two clusters")
}
