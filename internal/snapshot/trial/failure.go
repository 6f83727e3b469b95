// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package trial

import (
	"fmt"
	"os/exec"
	"strings"
)

// damage is what the tool and etcd print of a file whose content is wrong: the hash at its end, the pages of bbolt,
// the data that etcd reads from it. Nothing else shows damage.
var damage = []string{
	"expected sha256", "snapshot missing hash", "invalid database", "checksum error", "file size too small", "unexpected eof",
	"invalid freelist page", "invalid page type", "assertion failed", "already freed", "cannot unmarshal", "failed to unmarshal", "no consistent index",
}

// machines are failures of this machine, and what helps. They count before damage: etcd can panic because of each.
var machines = []struct{ printed, way string }{
	{"no space left on device", "free space below TMPDIR, or set TMPDIR to a directory with room for the whole database"},
	{"disk quota exceeded", "free space below TMPDIR, or set TMPDIR to a directory with room for the whole database"},
	{"file too large", "set TMPDIR to a directory in which files may have the size of the whole database"},
	{"read-only file system", "set TMPDIR to a directory in which you can write"},
	{"permission denied", "set TMPDIR to a directory in which you can write and that others can't"},
	{"input/output error", "copy the snapshot to another disk, and set TMPDIR to a directory of that"},
	{"too many open files", "raise the limit of open files: ulimit -n"},
	{"cannot allocate memory", "run it on a machine with more memory"},
	{"out of memory", "run it on a machine with more memory"},
}

// failure returns why a program has failed: a *DamagedError only if it has printed that the content of the snapshot
// is wrong. A program that was killed has shown nothing.
func failure(doing string, err error, printed string) error {
	text := strings.ToLower(printed)
	message := ended(doing, err, printed)
	for _, m := range machines {
		if strings.Contains(text, m.printed) {
			return undecided(message, m.way)
		}
	}
	if exit, exited := err.(*exec.ExitError); exited && exit.ExitCode() < 0 { //nolint:errorlint // of Wait, which wraps none
		return undecided(message, "a signal ended the program. If nothing else has sent it, run it on a machine with more memory")
	}
	for _, d := range damage {
		if strings.Contains(text, d) {
			return damaged("%s", message)
		}
	}
	return undecided(message, "name programs of the minor release of the snapshot's cluster with --tool and --etcd")
}

// ended describes how a program has ended, with the last that it printed.
func ended(doing string, err error, printed string) string {
	message := fmt.Sprintf("%s: %v", doing, err)
	if last := lastLines(printed); last != "" {
		message += ": " + last
	}
	return message
}

func undecided(message, way string) error {
	return fmt.Errorf("%s. That does not show that the snapshot is damaged. To try again: %s", message, way)
}
