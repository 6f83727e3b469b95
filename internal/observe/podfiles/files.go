// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package podfiles reads what pods mount and what their variables refer to, from ConfigMaps and Secrets. It
// reads each object once. internal/observe calls it, and the packages that read how members are configured.
package podfiles

import (
	"context"
	"errors"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// Files reads files and variables of the pods of one namespace from ConfigMaps and Secrets. It reads
// each object once, and stores it only in memory. What could not be read is read again when it is asked for
// again, unless the API server has answered that there is none or that the user may not read it. It is for
// one goroutine, and not for longer than one command.
type Files struct {
	reader    client.Reader
	namespace string
	read      map[[2]string]contentsRead
}

// contentsRead are the contents of a ConfigMap or Secret, or the error of reading them.
type contentsRead struct {
	data map[string][]byte
	err  error
}

// New returns a reader of the files of a namespace's pods.
func New(reader client.Reader, namespace string) *Files {
	return &Files{reader: reader, namespace: namespace, read: map[[2]string]contentsRead{}}
}

// Config reads how a pod's etcd is configured.
func (f *Files) Config(ctx context.Context, pod *corev1.Pod) (etcdconf.Config, error) {
	return etcdconf.ParsePod(pod, f.Contents(ctx))
}

// File reads a file as a container of the pod sees it, and returns its origin. The error may be a
// *MissingError, an *UnreadableError, or the API server's.
func (f *Files) File(ctx context.Context, pod *corev1.Pod, container, path string) ([]byte, etcdconf.Origin, error) {
	return etcdconf.ReadFile(pod, container, path, f.Contents(ctx))
}

// Variable returns a variable of a container's environment, and false where it isn't set.
func (f *Files) Variable(ctx context.Context, pod *corev1.Pod, container, name string) (string, bool, error) {
	return etcdconf.Variable(pod, container, name, f.Contents(ctx))
}

// Secret reads a Secret's data.
func (f *Files) Secret(ctx context.Context, name string) (map[string][]byte, error) {
	return f.Contents(ctx)("Secret", name)
}

// Contents returns a function that reads ConfigMaps and Secrets of the namespace.
func (f *Files) Contents(ctx context.Context) etcdconf.Contents {
	return func(kind, name string) (map[string][]byte, error) {
		key := [2]string{kind, name}
		got, ok := f.read[key]
		if !ok {
			got.data, got.err = readContents(ctx, f.reader, kind, f.namespace, name)
			if !Transient(got.err) {
				f.read[key] = got
			}
		}
		return got.data, got.err
	}
}

// ReadError is returned for a ConfigMap or Secret that could not be read.
type ReadError struct {
	Kind, Namespace, Name string
	Err                   error
}

func (e *ReadError) Error() string {
	return fmt.Sprintf("read %s %s/%s: %v", e.Kind, e.Namespace, e.Name, e.Err)
}
func (e *ReadError) Unwrap() error { return e.Err }

// Transient reports whether an error is that of an object that the next read may find: the API server did not
// answer, or not to this question.
func Transient(err error) bool {
	read, failed := errors.AsType[*ReadError](err)
	return failed && !apierrors.IsForbidden(read.Err)
}

func readContents(ctx context.Context, r client.Reader, kind, namespace, name string) (map[string][]byte, error) {
	key := client.ObjectKey{Namespace: namespace, Name: name}
	var secret corev1.Secret
	var config corev1.ConfigMap
	object, data := client.Object(&secret), func() map[string][]byte { return secret.Data }
	if kind == "ConfigMap" {
		object, data = &config, func() map[string][]byte { return configData(&config) }
	}
	err := r.Get(ctx, key, object)
	switch {
	case apierrors.IsNotFound(err):
		return nil, &etcdconf.MissingError{Kind: kind, Namespace: namespace, Name: name}
	case err != nil:
		return nil, &ReadError{Kind: kind, Namespace: namespace, Name: name, Err: err}
	}
	return data(), nil
}

func configData(c *corev1.ConfigMap) map[string][]byte {
	data := make(map[string][]byte, len(c.Data)+len(c.BinaryData))
	for k, v := range c.Data {
		data[k] = []byte(v)
	}
	maps.Copy(data, c.BinaryData)
	return data
}
