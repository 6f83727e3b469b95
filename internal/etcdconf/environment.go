// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// Contents reads the data of an object in the pod's namespace. kind is "ConfigMap" or "Secret". The
// error of an object that doesn't exist is a *MissingError.
type Contents func(kind, name string) (map[string][]byte, error)

// MissingError is returned for an object that a pod refers to and that doesn't exist or lacks a key.
type MissingError struct {
	Kind, Namespace, Name string
	// Key is the key that the object lacks, empty where the object doesn't exist.
	Key string
}

func (e *MissingError) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s %s/%s does not exist", e.Kind, e.Namespace, e.Name)
	}
	return fmt.Sprintf("%s %s/%s has no key %q", e.Kind, e.Namespace, e.Name, e.Key)
}

// environment is a container's environment, as the kubelet makes it. It reads only the variables that
// are looked up, and so no passwords that aren't needed.
type environment struct {
	pod       *corev1.Pod
	container *corev1.Container
	contents  Contents
	// err is the first error of a lookup. unknown are the errors of the variables whose values are not
	// known, by name.
	err     error
	unknown map[string]error
	// expanded are the values of Env's entries that were looked up: a value may refer to
	// the one before it several times, and that one again.
	expanded map[int]string
}

// once returns contents that reads each object once. It also remembers why one can't be read.
func once(contents Contents) Contents {
	if contents == nil {
		return nil
	}
	type answer struct {
		data map[string][]byte
		err  error
	}
	read := map[[2]string]answer{}
	return func(kind, name string) (map[string][]byte, error) {
		key := [2]string{kind, name}
		got, done := read[key]
		if !done {
			got.data, got.err = contents(kind, name)
			read[key] = got
		}
		return got.data, got.err
	}
}

func newEnvironment(pod *corev1.Pod, c *corev1.Container, contents Contents) *environment {
	return &environment{pod: pod, container: c, contents: contents, unknown: map[string]error{}}
}

var errTooLong = errors.New("longer than the 128 KiB that Linux passes to a program")

// Variable returns a variable of a container's environment, and false where the pod doesn't set it.
func Variable(pod *corev1.Pod, container, name string, contents Contents) (string, bool, error) {
	c := containers.Named(&pod.Spec, container)
	if c == nil {
		return "", false, nil
	}
	env := newEnvironment(pod, c, contents)
	value, ok := env.lookup(name)
	return value, ok, env.err
}

// lookup returns the value of a variable, and false where the pod doesn't set it.
func (e *environment) lookup(name string) (string, bool) {
	return e.before(name, len(e.container.Env))
}

// known returns what lookup returns, and why the value is not known. The error is nil for a known value.
func (e *environment) known(name string) (string, bool, error) {
	value, ok := e.lookup(name)
	return value, ok, e.unknown[name]
}

// before returns a variable's value from the first end entries: a value refers to those before it.
func (e *environment) before(name string, end int) (string, bool) {
	for i, v := range slices.Backward(e.container.Env[:end]) {
		if v.Name != name {
			continue
		}
		if v.ValueFrom == nil {
			return e.expandAt(i), true
		}
		value, ok, err := e.valueFrom(v.ValueFrom)
		e.note(name, err)
		return value, ok
	}
	return e.from(name)
}

// expandAt returns the value of the i-th variable, which refers to those before it.
func (e *environment) expandAt(i int) string {
	if value, done := e.expanded[i]; done {
		return value
	}
	v := e.container.Env[i]
	value, err := expandReferences(v.Value, func(n string) (string, bool) { return e.before(n, i) })
	e.note(v.Name, err)
	if e.expanded == nil {
		e.expanded = map[int]string{}
	}
	e.expanded[i] = value
	return value
}

func (e *environment) note(name string, err error) {
	if err == nil {
		return
	}
	err = fmt.Errorf("variable %s of container %s: %w", name, e.container.Name, err)
	e.err = cmp.Or(e.err, err)
	e.unknown[name] = cmp.Or(e.unknown[name], err)
}

// sets reports whether an entry of the container's own env has a name, whatever its value.
func (e *environment) sets(name string) bool {
	return slices.ContainsFunc(e.container.Env, func(v corev1.EnvVar) bool { return v.Name == name })
}

// from returns a variable's value from envFrom, where the last entry takes precedence. An entry that
// can't be read may have any variable, so those before it don't count.
func (e *environment) from(name string) (string, bool) {
	for _, f := range slices.Backward(e.container.EnvFrom) {
		key, ok := strings.CutPrefix(name, f.Prefix)
		if !ok {
			continue
		}
		kind, object, optional := "ConfigMap", "", (*bool)(nil)
		switch {
		case f.ConfigMapRef != nil:
			object, optional = f.ConfigMapRef.Name, f.ConfigMapRef.Optional
		case f.SecretRef != nil:
			kind, object, optional = "Secret", f.SecretRef.Name, f.SecretRef.Optional
		default:
			continue
		}
		data, err := e.contents(kind, object)
		if isMissing(err) && isTrue(optional) {
			continue
		}
		if err != nil {
			e.note(name, fmt.Errorf("envFrom: %w", err))
			return "", false
		}
		if value, ok := data[key]; ok {
			return string(value), true
		}
	}
	return "", false
}

func (e *environment) valueFrom(from *corev1.EnvVarSource) (string, bool, error) {
	switch {
	case from.FieldRef != nil:
		return e.field(from.FieldRef.FieldPath)
	case from.ConfigMapKeyRef != nil:
		ref := from.ConfigMapKeyRef
		return e.key("ConfigMap", ref.Name, ref.Key, ref.Optional)
	case from.SecretKeyRef != nil:
		ref := from.SecretKeyRef
		return e.key("Secret", ref.Name, ref.Key, ref.Optional)
	}
	return "", false, errors.New("its value is only known in the pod")
}

func (e *environment) key(kind, name, key string, optional *bool) (string, bool, error) {
	data, err := e.contents(kind, name)
	value, ok := data[key]
	if err == nil && !ok {
		err = &MissingError{Kind: kind, Namespace: e.pod.Namespace, Name: name, Key: key}
	}
	if isMissing(err) && isTrue(optional) {
		return "", false, nil
	}
	return string(value), ok, err
}

func (e *environment) field(path string) (string, bool, error) {
	pod := e.pod
	if at, ok := cutBoth(path, "metadata.labels['", "']"); ok {
		return pod.Labels[at], true, nil
	}
	if at, ok := cutBoth(path, "metadata.annotations['", "']"); ok {
		return pod.Annotations[at], true, nil
	}
	var ips []string
	for _, ip := range pod.Status.PodIPs {
		ips = append(ips, ip.IP)
	}
	value, ok := map[string]string{
		"metadata.name":           pod.Name,
		"metadata.namespace":      pod.Namespace,
		"metadata.uid":            string(pod.UID),
		"spec.nodeName":           pod.Spec.NodeName,
		"spec.serviceAccountName": pod.Spec.ServiceAccountName,
		"status.podIP":            pod.Status.PodIP,
		"status.podIPs":           strings.Join(ips, ","),
		"status.hostIP":           pod.Status.HostIP,
	}[path]
	if !ok {
		return "", false, fmt.Errorf("field %q is not known here", path)
	}
	return value, true, nil
}

// expandReferences replaces $(NAME) as the kubelet does in commands, arguments and values. $$ stands
// for $, and an unknown reference remains as written.
func expandReferences(text string, lookup func(string) (string, bool)) (string, error) {
	var out strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		out.WriteString(before)
		if out.Len() > script.MaxWord { // each variable may double the one before it
			return "", errTooLong
		}
		if !found {
			return out.String(), nil
		}
		name, rest, closed := strings.Cut(after, ")")
		switch {
		case strings.HasPrefix(after, "$"):
			out.WriteByte('$')
			text = after[1:]
		case strings.HasPrefix(after, "(") && closed:
			value, ok := lookup(name[1:])
			if !ok {
				value = "$" + name + ")"
			}
			out.WriteString(value)
			text = rest
		default:
			out.WriteByte('$')
			text = after
		}
	}
}

// hostname returns the pod's hostname.
func hostname(pod *corev1.Pod) string {
	switch {
	case pod.Spec.HostNetwork:
		return pod.Spec.NodeName
	case pod.Spec.Hostname != "":
		return pod.Spec.Hostname
	}
	return pod.Name
}

func isMissing(err error) bool {
	var missing *MissingError
	return errors.As(err, &missing)
}

func cutBoth(s, before, after string) (string, bool) {
	s, ok := strings.CutPrefix(s, before)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(s, after)
}
