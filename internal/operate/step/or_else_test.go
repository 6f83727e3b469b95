// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"context"
	"errors"
	"os/exec"
	"testing"
)

// TestOrElse: the other action is done if the first fails, which is the result in any case. The printed command does the same.
func TestOrElse(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		act, other string
		printed    string
		fails      bool
	}{
		{"true", "echo other", "", false},
		{"false", "echo other", "other\n", true},
		{"false", "echo other; false", "other\n", true},
	} {
		program := func(text string) Program { return Program{Lines: [][]string{{"sh", "-c", text}}} }
		var printed string
		c := Clients{Run: func(ctx context.Context, _, program []string) error {
			out, err := exec.CommandContext(ctx, program[0], program[1:]...).Output()
			printed += string(out)
			return err
		}}
		act := OrElse{Act: program(row.act), Else: program(row.other)}
		if err := act.Do(t.Context(), c); (err != nil) != row.fails || printed != row.printed {
			t.Errorf("%+v: %q, %v", row, printed, err)
		}
		out, err := exec.CommandContext(t.Context(), "bash", "-ec", act.Command(Flags{})).Output()
		if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || (err != nil) != row.fails || string(out) != row.printed {
			t.Errorf("%s: %q, %v", act.Command(Flags{}), out, err)
		}
	}
}
