// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"sync"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
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

// contents returns a function that reads the objects of a namespace. It is safe for several
// goroutines.
func (s *Scripts) contents(ctx context.Context, r *Reader, namespace string) etcdconf.Contents {
	return func(kind, name string) (map[string][]byte, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		files := s.files[namespace]
		if files == nil {
			files = r.Files(namespace)
			s.files[namespace] = files
		}
		if _, done := files.read[[2]string{kind, name}]; !done {
			if s.left == 0 {
				return nil, errManyObjects
			}
			s.left--
		}
		return files.contents(ctx)(kind, name)
	}
}

// standalone is owner.Standalone with what the pods mount, where this reader may read it.
func (r *Reader) standalone(ctx context.Context, sts *appsv1.StatefulSet) (owner.Owner, bool) {
	o, found := owner.Standalone(sts)
	pod := etcdconf.PodOfTemplate(sts)
	_, ofDruid := owner.EtcdOf(sts)
	if r.Scripts == nil || ofDruid || etcdconf.DeniesEtcd(pod) || !found && !etcdconf.WorthReading(&pod.Spec) {
		return o, found
	}
	contents := r.Scripts.contents(ctx, r, sts.Namespace)
	if !found {
		member := etcdconf.MemberIn(pod, contents)
		if member.Evidence < etcdconf.Shown || member.Container == nil {
			return owner.Owner{}, false
		}
		o = owner.OfStatefulSet(sts)
		o.Mounted = member.Container.Name
	}
	o.MemberChanges = etcdconf.MemberChanges(pod, contents)
	return o, true
}
