// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package trial restores a snapshot into a temporary directory of this machine, starts an etcd of one member
// from it, and asks that etcd what it has. It removes all of it at the end, also if the context ends. It knows
// nothing about Kubernetes.
//
// The directory is for the user alone (0700), and the etcd listens on Unix sockets in it: a snapshot has every
// secret of its cluster, and any user of the machine could connect to a port of the loopback.
package trial

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/kubectl-etcd/kubectl-etcd/internal/snapshot"
)

// Trial is what is restored, and with which programs of this machine.
type Trial struct {
	// File is the snapshot, and Content what was read from it.
	File    string
	Content snapshot.File
	// Tool is etcdutl, or etcdctl of etcd 3.4. Etcd is the server.
	Tool, Etcd string
	// Logf reports what begins.
	Logf func(format string, args ...any)
}

// DamagedError means that the content of the snapshot is wrong: a program has printed that, or etcd has other data than
// the file.
type DamagedError struct{ message string }

func (e *DamagedError) Error() string { return e.message }

func damaged(format string, args ...any) error {
	return &DamagedError{message: fmt.Sprintf(format, args...)}
}

// Run restores the snapshot, and returns what etcd answers. It returns a *DamagedError only if the snapshot is
// damaged. A program or a machine that fails is another error.
func (t *Trial) Run(ctx context.Context) (result Result, err error) {
	dir, err := os.MkdirTemp("", "kubectl-etcd-verify-")
	if err != nil {
		return result, err
	}
	defer func() {
		if failed := os.RemoveAll(dir); failed != nil {
			err = errors.Join(err, fmt.Errorf("remove the restored data: %w", failed))
		}
	}()
	data := filepath.Join(dir, "data")
	if err := t.restore(ctx, dir, data); err != nil {
		return result, err
	}
	if t.Content.Auth {
		if err := disableAuth(filepath.Join(data, "member", "snap", "db")); err != nil {
			return result, fmt.Errorf("switch authentication off in the restored copy: %w", err)
		}
	}
	t.Logf("Starting etcd from it")
	s, err := start(dir, data, t.Etcd)
	if err != nil {
		return result, err
	}
	defer s.stop(stopTimeout)
	if result, err = s.ask(ctx, t.Content.Revision); err != nil {
		return result, s.why(ctx, err)
	}
	return result, t.compare(result)
}

// compare returns an error if etcd has other data than was read from the file.
func (t *Trial) compare(r Result) error {
	switch want := t.Content; {
	case r.Keys != int64(want.Keys):
		return damaged("etcd has %d keys at revision %d, and the file has %d", r.Keys, want.Revision, want.Keys)
	case r.Revision < want.Revision:
		return damaged("etcd is at revision %d, and the file at %d", r.Revision, want.Revision)
	}
	return nil
}
