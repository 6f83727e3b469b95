// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package podfiles

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// Bounds of how many ConfigMaps and Secrets one command reads to find out what pods execute: those of
// one namespace, so that a namespace with many hides no cluster of another, and those of all.
const (
	maxScriptObjects = 200
	maxOfAll         = 2000
)

// ManyObjectsError is returned for an object that is not read, since too many were read before.
type ManyObjectsError struct {
	Namespace string
	// All is true if the objects of all namespaces together were too many.
	All bool
}

func (e *ManyObjectsError) Error() string {
	if e.All {
		return fmt.Sprintf("this command reads at most %d ConfigMaps and Secrets to find out what pods execute", maxOfAll)
	}
	return fmt.Sprintf("this command reads at most %d ConfigMaps and Secrets of a namespace to find out what pods execute", maxScriptObjects)
}

// Unread is a StatefulSet of which it is not known whether it runs etcd, since an object with what its
// pods execute could not be read.
type Unread struct {
	Namespace, Name string
	Labels          map[string]string
	Err             error
}

// Scripts reads what candidates for members execute: the ConfigMaps with their scripts, and those
// and the Secrets of envFrom. It reads each object once, with the rights of the user. Webhook and
// controller have none: they may not read these objects. It is for one command.
type Scripts struct {
	mu    sync.Mutex
	left  int
	read  map[string]int
	files map[string]*Files
	// counted are the objects that count against the bounds, by namespace, kind and name.
	counted map[[3]string]bool
	unread  map[[2]string]Unread
}

// NewScripts returns a Scripts that has read nothing.
func NewScripts() *Scripts {
	s := &Scripts{}
	s.Forget()
	return s
}

// Forget makes s read everything again, as if it had read nothing: what is decided again, under a lock, is
// decided on what is there by then. A nil Scripts has read nothing.
func (s *Scripts) Forget() {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.read, s.files = maxOfAll, map[string]int{}, map[string]*Files{}
	s.counted, s.unread = map[[3]string]bool{}, map[[2]string]Unread{}
}

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
		if of := [3]string{namespace, kind, name}; !s.counted[of] {
			if s.left == 0 || s.read[namespace] == maxScriptObjects {
				return nil, &ManyObjectsError{Namespace: namespace, All: s.read[namespace] < maxScriptObjects}
			}
			s.left--
			s.read[namespace]++
			s.counted[of] = true
		}
		return files.Contents(ctx)(kind, name)
	}
}

// Found removes what Miss has recorded of a workload: what was not read then has been read since.
func (s *Scripts) Found(namespace, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.unread, [2]string{namespace, name})
}

// Miss records a StatefulSet of which it is not known whether it runs etcd, and why.
func (s *Scripts) Miss(set Unread) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread[[2]string{set.Namespace, set.Name}] = set
}

// Unread returns what Miss has recorded of a namespace, or of all for "", in the order of the names. A
// nil Scripts has none.
func (s *Scripts) Unread(namespace string) []Unread {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Unread
	for _, set := range s.unread {
		if namespace == "" || namespace == set.Namespace {
			out = append(out, set)
		}
	}
	slices.SortFunc(out, func(a, b Unread) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out
}
