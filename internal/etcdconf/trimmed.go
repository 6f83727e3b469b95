// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// maxNeeded is how many variables of a container WithoutValues examines one by one.
const maxNeeded = 16

// WithoutValues returns the variables of a pod's container with only the values that show what it
// starts, such as ETCD_BIN=/usr/bin/etcd for the command $ETCD_BIN: other values can be secrets. Without
// its value a variable is unknown, not empty. The container without the others shows the same.
func WithoutValues(spec *corev1.PodSpec, c *corev1.Container) []corev1.EnvVar {
	env := make([]corev1.EnvVar, len(c.Env))
	var named []int
	for i, e := range c.Env {
		env[i] = corev1.EnvVar{Name: e.Name, ValueFrom: &corev1.EnvVarSource{}}
		if e.ValueFrom == nil && namesVariable(c, e.Name) {
			named = append(named, i)
		}
	}
	if len(named) == 0 {
		return env
	}
	whole := shownBy(spec, c, c.Env)
	if shownBy(spec, c, env) == whole {
		return env
	}
	for _, i := range named {
		env[i] = c.Env[i]
	}
	for _, i := range named[:min(len(named), maxNeeded)] {
		with := env[i]
		env[i] = corev1.EnvVar{Name: with.Name, ValueFrom: &corev1.EnvVarSource{}}
		if shownBy(spec, c, env) != whole {
			env[i] = with
		}
	}
	return env
}

// ProgramMount returns the mount and the volume of a pod that show that a container starts a program
// from a ConfigMap or Secret. It leaves out which object that is, and returns false for other programs.
func ProgramMount(spec *corev1.PodSpec, c *corev1.Container) (corev1.VolumeMount, corev1.Volume, bool) {
	pod := &corev1.Pod{Spec: corev1.PodSpec{Volumes: spec.Volumes}}
	mount := objectMount(pod, c, startedIn(pod, c, nil).path)
	if mount == nil {
		return corev1.VolumeMount{}, corev1.Volume{}, false
	}
	return corev1.VolumeMount{Name: mount.Name, MountPath: mount.MountPath},
		corev1.Volume{Name: mount.Name, VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}}, true
}

// shown is what a container shows without objects.
type shown struct {
	evidence Evidence
	program  string
}

func shownBy(spec *corev1.PodSpec, c *corev1.Container, env []corev1.EnvVar) shown {
	with := corev1.Container{Name: c.Name, Command: c.Command, Args: c.Args, Env: env, VolumeMounts: c.VolumeMounts}
	pod := &corev1.Pod{Spec: corev1.PodSpec{Volumes: spec.Volumes}}
	return shown{evidenceOf(pod, &with, nil), startedIn(pod, &with, nil).program}
}

// namesVariable reports whether a command of a container may use a variable.
func namesVariable(c *corev1.Container, name string) bool {
	has := func(word string) bool { return strings.Contains(word, name) }
	return slices.ContainsFunc(c.Command, has) || slices.ContainsFunc(c.Args, has)
}
