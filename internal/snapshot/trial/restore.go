// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"go.etcd.io/bbolt"
)

// restore makes the data directory of a member with etcd's defaults.
func (t *Trial) restore(ctx context.Context, dir, data string) error {
	file, err := filepath.Abs(t.File)
	if err != nil {
		return err
	}
	args := []string{"snapshot", "restore", file, "--data-dir", data}
	if !t.Content.Hashed {
		args = append(args, "--skip-hash-check")
	}
	t.Logf("Restoring it into a temporary directory")
	cmd := exec.CommandContext(ctx, t.Tool, args...) //nolint:gosec // the user chooses the program
	cmd.Dir, cmd.Env = dir, append(environment(), "ETCDCTL_API=3")
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	err = startPrivate(cmd)
	if err == nil {
		err = cmd.Wait()
	}
	if _, exited := errors.AsType[*exec.ExitError](err); exited && ctx.Err() == nil {
		return failure(t.Tool+" can't restore it", err, out.String())
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", t.Tool, errors.Join(err, context.Cause(ctx)))
	}
	return nil
}

// environment returns that of this process without the variables from which etcd and its tools read flags.
func environment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "ETCD_") || strings.HasPrefix(v, "ETCDCTL_") || strings.HasPrefix(v, "ETCDUTL_")
	})
}

// disableAuth has etcd answer without the password of root. It changes only the restored copy.
func disableAuth(database string) error {
	db, err := bbolt.Open(database, 0o600, nil)
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte("auth"))
		if b == nil {
			return nil
		}
		return b.Put([]byte("authEnabled"), []byte{0})
	})
	return errors.Join(err, db.Close())
}

// lastLines returns the end of what a program has printed, in one line.
func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], "; ")
}
