// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podfiles

import (
	"context"
	"errors"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// maxScriptObjects bounds how many ConfigMaps and Secrets one command reads to find out what pods
// execute.
const maxScriptObjects = 200

var errManyObjects = errors.New("too many objects were read to find out what pods execute")

// Scripts reads what candidates for members execute: the ConfigMaps with their scripts, and those
// and the Secrets of envFrom. It reads each object once, with the rights of the user. Webhook and
// controller have none: they may not read these objects. It is for one command.
type Scripts struct {
	mu    sync.Mutex
	left  int
	files map[string]*Files
}

// NewScripts returns a Scripts that has read nothing.
func NewScripts() *Scripts { return &Scripts{left: maxScriptObjects, files: map[string]*Files{}} }

// Contents returns a function that reads the objects of a namespace. It is safe for several
// goroutines.
func (s *Scripts) Contents(ctx context.Context, reader client.Reader, namespace string) etcdconf.Contents {
	return func(kind, name string) (map[string][]byte, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		files := s.files[namespace]
		if files == nil {
			files = New(reader, namespace)
			s.files[namespace] = files
		}
		if _, done := files.read[[2]string{kind, name}]; !done {
			if s.left == 0 {
				return nil, errManyObjects
			}
			s.left--
		}
		return files.Contents(ctx)(kind, name)
	}
}
