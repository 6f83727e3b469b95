// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
)

// alarmed is a cluster with an alarm.
type alarmed struct {
	Members

	why string
	err error
}

func (a alarmed) Unready(context.Context) (string, error) { return a.why, a.err }

// TestAwaitReady: members are awaited unless an alarm is in force, and an alarm with which nothing goes on ends it.
func TestAwaitReady(t *testing.T) {
	t.Parallel()
	act := AwaitReady{Wait: Wait{Kind: StatefulSet, Names: []string{"main"}, For: Field("status.readyReplicas", 3), Timeout: time.Minute}, Target: "statefulset/main"}
	wantCommand(t, act, "kubectl --context desk -n team wait --for=jsonpath='{.status.readyReplicas}'=3 --timeout=1m statefulset/main\n"+
		"kubectl etcd --context desk -n team --cert a.crt status statefulset/main\nkubectl etcd --context desk -n team --cert a.crt check statefulset/main")
	for _, row := range []struct {
		name         string
		etcd         alarmed
		ready        int
		warned, fail string
	}{
		{name: "ready", ready: 3},
		{name: "not ready", ready: 2, fail: "timed out after 1m"},
		{name: "an alarm", etcd: alarmed{why: "alarm NOSPACE is in force"}, ready: 0, warned: "This step does not wait until the members are ready: alarm NOSPACE is in force."},
		{name: "an alarm that ends it", etcd: alarmed{err: errors.New("alarm CORRUPT is in force")}, ready: 3, fail: "alarm CORRUPT is in force"},
	} {
		w := newWorld(t)
		var warned []string
		w.clients.Etcd, w.clients.Warn = row.etcd, func(format string, args ...any) { warned = append(warned, fmt.Sprintf(format, args...)) }
		w.put(set, "apps/v1", "StatefulSet", apitest.Object{"status": apitest.Object{"readyReplicas": row.ready}})
		err := act.Do(t.Context(), w.clients)
		if row.fail == "" && err != nil || row.fail != "" && (err == nil || !strings.Contains(err.Error(), row.fail)) || strings.Join(warned, "") != row.warned {
			t.Errorf("%s: %v, warned %q", row.name, err, warned)
		}
	}
}

// TestExplained: the likely cause is for the end of the time alone.
func TestExplained(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wait := Wait{Kind: StatefulSet, Names: []string{"main"}, For: Field("status.readyReplicas", 3), Timeout: time.Minute}
	act := Explained{Action: wait, Cause: "the cause"}
	wantCommand(t, act, wait.Command(flags))
	wantError(t, act.Do(t.Context(), w.clients), "timed out after 1m: the cause")
	w.refuse("GET")
	if err := act.Do(t.Context(), w.clients); err == nil || strings.Contains(err.Error(), "the cause") {
		t.Errorf("%v", err)
	}
}
