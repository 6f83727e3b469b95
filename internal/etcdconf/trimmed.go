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

// WithoutValues returns the variables of a container with only the values that show what it starts,
// such as ETCD_BIN=/usr/bin/etcd for the command $ETCD_BIN: other values can be secrets. Without its
// value a variable is unknown, not empty. The container without the others shows the same.
func WithoutValues(c *corev1.Container) []corev1.EnvVar {
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
	whole := shownBy(c, c.Env)
	if shownBy(c, env) == whole {
		return env
	}
	for _, i := range named {
		env[i] = c.Env[i]
	}
	for _, i := range named[:min(len(named), maxNeeded)] {
		with := env[i]
		env[i] = corev1.EnvVar{Name: with.Name, ValueFrom: &corev1.EnvVarSource{}}
		if shownBy(c, env) != whole {
			env[i] = with
		}
	}
	return env
}

// shown is what a container shows without objects.
type shown struct {
	evidence Evidence
	program  string
}

func shownBy(c *corev1.Container, env []corev1.EnvVar) shown {
	with := corev1.Container{Name: c.Name, Command: c.Command, Args: c.Args, Env: env}
	pod := &corev1.Pod{}
	return shown{evidenceOf(pod, &with, nil), startedIn(pod, &with, nil).program}
}

// namesVariable reports whether a command of a container may use a variable.
func namesVariable(c *corev1.Container, name string) bool {
	has := func(word string) bool { return strings.Contains(word, name) }
	return slices.ContainsFunc(c.Command, has) || slices.ContainsFunc(c.Args, has)
}
