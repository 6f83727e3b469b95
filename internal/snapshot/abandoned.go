// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// RemoveAbandoned removes the temporary files that killed saves have left in a directory, and returns their
// names. It only removes those of snapshots that ours accepts, by the name of the snapshot. A file that a save
// is writing stays, as does one of which that is unknown. The error has the files that could not be removed.
func RemoveAbandoned(dir string, ours func(name string) bool) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var removed []string
	var failed []error
	for _, e := range entries {
		final, temporary := strings.CutSuffix(e.Name(), partSuffix)
		if !temporary || !e.Type().IsRegular() || !ours(strings.TrimSuffix(final, recordSuffix)) {
			continue
		}
		switch err := removeStale(filepath.Join(dir, e.Name())); {
		case err == nil:
			removed = append(removed, e.Name())
		case !errors.Is(err, errWriting):
			failed = append(failed, err)
		}
	}
	return removed, errors.Join(failed...)
}
