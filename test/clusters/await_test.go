// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAwait(t *testing.T) {
	t.Parallel()
	broken := errors.New("connection refused")
	for _, c := range []struct {
		name  string
		check func(n int) (string, bool, error) // the n-th check
		took  time.Duration
		wants []string // parts of the error; empty for success
	}{
		{
			name:  "there at once",
			check: func(int) (string, bool, error) { return "", true, nil },
		},
		{
			name: "comes in spite of errors",
			check: func(n int) (string, bool, error) {
				if n < 3 {
					return "", false, broken
				}
				return "", true, nil
			},
			took: 3 * time.Second,
		},
		{
			name:  "never comes",
			check: func(int) (string, bool, error) { return "2 of 3 pods", false, nil },
			took:  10 * time.Second,
			wants: []string{"wait for all pods", "not within 10s", "last seen: 2 of 3 pods"},
		},
		{
			name:  "can't be seen",
			check: func(int) (string, bool, error) { return "", false, broken },
			took:  10 * time.Second,
			wants: []string{"last seen: connection refused"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				n, began := -1, time.Now()
				err := Await(t.Context(), 10*time.Second, "all pods", func(context.Context) (string, bool, error) {
					n++
					return c.check(n)
				})
				if took := time.Since(began); took != c.took {
					t.Errorf("it took %s, want %s", took, c.took)
				}
				if (err == nil) != (len(c.wants) == 0) {
					t.Fatalf("Await = %v, want an error with %q", err, c.wants)
				}
				for _, want := range c.wants {
					if !strings.Contains(err.Error(), want) {
						t.Errorf("error %q lacks %q", err, want)
					}
				}
			})
		})
	}
}

// A check that timed out doesn't replace the last observed state.
func TestAwaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		checks := 0
		err := Await(t.Context(), 10*time.Second, "all pods", func(ctx context.Context) (string, bool, error) {
			if checks++; checks == 1 {
				return "2 of 3 pods", false, nil
			}
			<-ctx.Done()
			return "", false, ctx.Err()
		})
		if err == nil || !strings.HasSuffix(err.Error(), "last seen: 2 of 3 pods") {
			t.Errorf("Await = %v, want the last observed state", err)
		}
	})
}
