// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto/tls"
	"path/filepath"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
)

// files are a certificate that somebody else keeps, such as cert-manager by way
// of a mounted Secret.
type files struct {
	*certwatcher.CertWatcher
	mu   sync.Mutex
	last *served
}

// watchFiles reads tls.crt and tls.key in dir, which must be there, and calls
// changed whenever they have changed.
func watchFiles(dir string, changed func()) (*files, error) {
	w, err := certwatcher.New(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		return nil, err
	}
	f := &files{CertWatcher: w}
	w.RegisterCallback(func(c tls.Certificate) {
		read, err := newServed(&c, nil)
		if err != nil {
			return // a key pair that was just read can be
		}
		f.mu.Lock()
		f.last = read
		f.mu.Unlock()
		changed()
	})
	return f, nil
}

func (f *files) read() *served {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}
