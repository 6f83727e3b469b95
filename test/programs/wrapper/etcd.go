// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"go.etcd.io/etcd/server/v3/embed"
)

// startEtcd starts the member. Its files are for this user only, those that an
// earlier run or a restoration has left included.
func (w *wrapper) startEtcd(cfg *embed.Config) (*embed.Etcd, error) {
	syscall.Umask(0o077)
	if err := restrict(cfg.Dir); err != nil {
		return nil, err
	}
	return embed.StartEtcd(cfg)
}

// restrict takes every file below dir away from other users.
func restrict(dir string) error {
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a new member
	}
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	return fs.WalkDir(root.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		return root.Chmod(path, 0o600)
	})
}

// servesTLS reports whether etcd's clients have to speak TLS; readiness is then
// served with it, too.
func servesTLS(cfg *embed.Config) bool {
	info := cfg.ClientTLSInfo
	for _, file := range []string{info.CertFile, info.KeyFile, info.TrustedCAFile} {
		if strings.TrimSpace(file) == "" {
			return false
		}
	}
	return true
}
