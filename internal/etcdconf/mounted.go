// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/script"
)

// maxMountedFiles is how many scripts of a container are read. Only the plugin reads them.
const maxMountedFiles = 16

var (
	errNoConfigMap = errors.New("scripts are only read from ConfigMaps")
	errManyFiles   = fmt.Errorf("more than %d scripts are not read", maxMountedFiles)
	errLargeFile   = fmt.Errorf("scripts of more than %d KiB are not read", script.MaxBytes>>10)
)

// surroundingsOf returns the surroundings of a container's commands. Without contents no object
// is read.
func surroundingsOf(pod *corev1.Pod, c *corev1.Container, contents Contents) script.Surroundings {
	s := script.Surroundings{Variable: func(name string) (string, bool) { return shownVariable(c, name, contents) }, Dir: c.WorkingDir}
	s.Names = contents != nil || slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return path.Base(e.Value) == "etcd" })
	if contents == nil {
		return s
	}
	configs := func(kind, name string) (map[string][]byte, error) {
		if kind != "ConfigMap" {
			return nil, errNoConfigMap
		}
		return contents(kind, name)
	}
	s.Unread = new([]string)
	file := boundedFiles(func(at string) ([]byte, error) {
		data, _, err := podFile(pod, c, at, configs)
		return data, err
	})
	s.File = func(at string, sourced bool) (string, bool) {
		text, err := file(at)
		if err != nil && !elsewhere(err) && (!sourced || !errors.Is(err, errNoConfigMap)) {
			s.Miss(at, err)
		}
		return text, err == nil
	}
	return s
}

// boundedFiles returns a function that reads scripts within bounds.
func boundedFiles(file func(at string) ([]byte, error)) func(at string) (string, error) {
	read := map[string]bool{}
	return func(at string) (string, error) {
		if at = path.Clean(at); !read[at] && len(read) == maxMountedFiles {
			return "", errManyFiles
		}
		data, err := file(at)
		if elsewhere(err) {
			return "", err
		}
		if read[at] = true; err == nil && len(data) > script.MaxBytes {
			err = errLargeFile
		}
		return string(data), err
	}
}

// elsewhere reports whether an error means that no ConfigMap and no Secret has a file: only the image,
// a node or a claim has it, or nothing.
func elsewhere(err error) bool {
	var missing *MissingError
	var unreadable *UnreadableError
	return errors.As(err, &unreadable) || errors.As(err, &missing) && missing.Key != ""
}

// shownVariable returns a variable of a container's environment that needs no value from a pod
// that runs or from a Secret. It follows no references to other variables: each may double the one before it.
func shownVariable(c *corev1.Container, name string, contents Contents) (string, bool) {
	for _, v := range slices.Backward(c.Env) {
		if v.Name == name {
			known := v.ValueFrom == nil && !strings.Contains(v.Value, "$(")
			return strings.ReplaceAll(v.Value, "$$", "$"), known
		}
	}
	for _, f := range slices.Backward(c.EnvFrom) {
		key, ok := strings.CutPrefix(name, f.Prefix)
		if !ok || contents == nil || f.ConfigMapRef == nil {
			continue
		}
		if data, err := contents("ConfigMap", f.ConfigMapRef.Name); err == nil {
			if value, has := data[key]; has {
				return string(value), true
			}
		}
	}
	return "", false
}

// variableNames calls f with the name of each variable of a container. Without contents it leaves
// out those of envFrom, and those of objects that can't be read.
func variableNames(c *corev1.Container, contents Contents, f func(name string)) {
	seen := map[string]bool{}
	note := func(name string) {
		if !seen[name] {
			seen[name] = true
			f(name)
		}
	}
	for _, e := range c.Env {
		note(e.Name)
	}
	if contents == nil {
		return
	}
	for _, from := range c.EnvFrom {
		kind, name := "", ""
		switch {
		case from.ConfigMapRef != nil:
			kind, name = "ConfigMap", from.ConfigMapRef.Name
		case from.SecretRef != nil:
			kind, name = "Secret", from.SecretRef.Name
		default:
			continue
		}
		data, err := contents(kind, name)
		if err != nil {
			continue
		}
		for key := range data {
			note(from.Prefix + key)
		}
	}
}

// WorthReading reports whether a pod has a hint that it runs etcd, so that the objects which it
// mounts are worth reading. What it hints at is shown only by what these objects contain.
func WorthReading(spec *corev1.PodSpec) bool {
	return slices.ContainsFunc(containers.Of(spec), func(c *corev1.Container) bool {
		reads := len(c.EnvFrom) > 0 || len(c.VolumeMounts) > 0
		return reads && (strings.Contains(strings.Join(slices.Concat([]string{c.Name, c.Image}, c.Command, c.Args), " "), "etcd") ||
			slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool { return strings.HasPrefix(e.Name, "ETCD") }) ||
			slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return strings.Contains(m.MountPath, "etcd") }) ||
			slices.ContainsFunc(c.Ports, func(p corev1.ContainerPort) bool { return p.ContainerPort == 2379 || p.ContainerPort == 2380 }))
	})
}
