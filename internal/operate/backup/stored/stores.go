// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package stored has the snapshots that are stored at a URL, in a directory or a bucket. It stores one, deletes those
// that are too many, lists them, finds the newest, and downloads one. The names and the descriptions of snapshots show
// of which cluster they are. internal/blob transfers them. It also lists all that the cluster's objects show of its
// backups, and copies a snapshot from the standard input as it downloads one.
package stored

import (
	"context"
	"errors"
	"strings"

	"k8s.io/utils/clock"

	"github.com/kubectl-etcd/kubectl-etcd/internal/blob"
)

// Stores is how the stores of URLs are reached, and how what happens there is reported.
type Stores struct {
	Reports

	// CA is a file of certificate authorities. Empty is those of the system.
	CA    string
	Clock clock.PassiveClock
}

// Reports are called while something happens. None of them may be nil.
type Reports struct {
	// Logf has steps that are done, Notef what begins or was found, and Warnf warnings.
	Logf, Notef, Warnf func(format string, args ...any)
	// Begin is called when the first bytes of a transfer have arrived.
	Begin func(what string, total int64) Bar
}

// Bar shows how far a transfer is.
type Bar interface {
	Add(bytes int64)
	Finish()
}

// transfer returns a context with which a store reports its progress, and what ends the bar.
func (r Reports) transfer(ctx context.Context, what string) (context.Context, func()) {
	var (
		bar   Bar
		shown int64
	)
	ctx = blob.WithProgress(ctx, func(done, total int64) {
		if bar == nil {
			bar = r.Begin(what, total)
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

// Object returns the location of a snapshot's URL, or nil if the argument is no URL.
func (s Stores) Object(arg string) (*blob.Location, error) {
	if !blob.IsURL(arg) {
		if s.CA != "" {
			return nil, errors.New("--store-ca can only be used with the URL of a bucket")
		}
		return nil, nil
	}
	l, err := blob.ParseObject(arg)
	if err != nil {
		return nil, err
	}
	l, err = l.Trusting(s.CA)
	return &l, err
}

// Folder returns the location of a folder's URL, or nil if the argument is no URL.
func (s Stores) Folder(arg string) (*blob.Location, error) {
	if !blob.IsURL(arg) {
		return nil, nil
	}
	l, err := blob.ParseFolder(arg)
	if err != nil {
		return nil, err
	}
	l, err = l.Trusting(s.CA)
	return &l, err
}

// CheckRotation returns an error if snapshots that are saved to a file or URL can't be counted, or be recorded in a
// Lease. keep is the number of snapshots to keep, nil if no number is given.
func CheckRotation(file string, keep *int, lease string) error {
	switch {
	case (keep != nil || lease != "") && !blob.IsURL(file):
		return errors.New("--keep and --renew-lease can only be used with a URL")
	case keep != nil && (*keep < 1 || !strings.HasSuffix(withoutParameters(file), "/")):
		return errors.New("--keep must be at least 1, and needs a URL that ends with a slash: the names of the snapshots contain the time")
	}
	return nil
}

func withoutParameters(url string) string {
	url, _, _ = strings.Cut(url, "?")
	return url
}
