// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package snapshot

import (
	"context"
	"os"
	"path"
	"path/filepath"

	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/ui"
)

// transfer returns a context with which a store reports its progress on stderr, and what ends the bar.
func transfer(ctx context.Context, a *app.App, what string) (context.Context, func()) {
	var (
		bar   *ui.Progress
		shown int64
	)
	ctx = blob.WithProgress(ctx, func(done, total int64) {
		if bar == nil {
			bar = a.NewProgress(what, total)
		}
		bar.Add(done - shown)
		shown = done
	})
	return ctx, func() {
		if bar != nil {
			bar.Finish()
		}
	}
}

// download returns the local file of a snapshot, and a function that deletes it. A file, and a URL of
// one, is used as it is. An object of a bucket is downloaded with its description, and is verified.
func download(ctx context.Context, a *app.App, arg string, store storeFlags) (file string, clean func(), err error) {
	nothing := func() {}
	l, err := store.object(arg)
	if err != nil || l == nil {
		return arg, nothing, err
	}
	if file, ok := l.File(); ok {
		return file, nothing, nil
	}
	dir, err := os.MkdirTemp("", "kubectl-etcd-snapshot-")
	if err != nil {
		return "", nothing, err
	}
	clean = func() { _ = os.RemoveAll(dir) }
	file = filepath.Join(dir, path.Base("/"+l.Name))
	a.Notef("Downloading %s", l)
	fetching, end := transfer(ctx, a, "download")
	err = blob.Fetch(fetching, *l, file)
	end()
	if err == nil {
		err = fetchRecord(ctx, *l, file)
	}
	if err != nil {
		clean()
		return "", nothing, err
	}
	return file, clean, nil
}

// longestRecord limits the description of a snapshot, which is some hundred bytes.
const longestRecord = 1 << 20

// fetchRecord writes the description of a snapshot next to it, if the store has one.
func fetchRecord(ctx context.Context, l blob.Location, file string) error {
	store, err := blob.Open(ctx, l)
	if err != nil {
		return err
	}
	defer store.Close()
	text, err := store.ReadSmall(ctx, l.Name+blob.RecordSuffix, longestRecord)
	if err != nil || text == nil {
		return err
	}
	return os.WriteFile(file+blob.RecordSuffix, text, 0o600)
}
