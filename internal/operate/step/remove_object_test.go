// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"os/exec"
	"testing"
)

// TestRemoveObject: an object that is not there is removed, whatever the tool reports. One that is there, or that may be,
// is not. The printed command has the same result.
func TestRemoveObject(t *testing.T) {
	t.Parallel()
	const object = "main/v2/Full-1"
	run := func(ctx context.Context, program []string) (string, error) {
		out, err := exec.CommandContext(ctx, program[0], program[1:]...).Output()
		return string(out), err
	}
	c := Clients{Output: run, Run: func(ctx context.Context, _, program []string) error {
		_, err := run(ctx, program)
		return err
	}}
	for _, row := range []struct {
		name, remove, list string
		removed            bool
	}{
		{"removed", "true", "false", true},
		{"not there", "false", "true", true},
		{"others are there", "false", "echo main/v2/Full-2", true},
		{"denied, and there", "false", "echo other; echo gs://bucket/" + object, false},
		{"nothing may be read", "false", "false", false},
		{"nothing may be read, although something is printed", "false", "echo other; false", false},
	} {
		act := RemoveObject{Name: object, Remove: []string{"sh", "-c", row.remove}, List: []string{"sh", "-c", row.list}}
		if err := act.Do(t.Context(), c); (err == nil) != row.removed {
			t.Errorf("%s: %v", row.name, err)
		}
		text := act.Command(Flags{})
		if _, err := run(t.Context(), []string{"bash", "-ec", text}); (err == nil) != row.removed {
			t.Errorf("%s: %s: %v", row.name, text, err)
		}
	}
}
