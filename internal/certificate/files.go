// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package certificate

import (
	"crypto/tls"
	"path/filepath"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/certwatcher"
)

// files is a certificate in files that another program maintains, such as cert-manager
// through a mounted Secret.
type files struct {
	*certwatcher.CertWatcher
	mu   sync.Mutex
	last *servingCert
}

// watchFiles reads tls.crt and tls.key in dir, which must exist, and calls changed after
// each change.
func watchFiles(dir string, changed func()) (*files, error) {
	w, err := certwatcher.New(filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key"))
	if err != nil {
		return nil, err
	}
	f := &files{CertWatcher: w}
	w.RegisterCallback(func(c tls.Certificate) {
		read, err := newServingCert(&c, nil)
		if err != nil {
			return // not reached: the watcher has just parsed the key pair
		}
		f.mu.Lock()
		f.last = read
		f.mu.Unlock()
		changed()
	})
	return f, nil
}

func (f *files) read() *servingCert {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}
