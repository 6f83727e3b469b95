// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
)

// Member is what is known of the container of a pod that runs a member of etcd.
type Member struct {
	Evidence Evidence
	// Container runs etcd. It is nil where no container does, or where Err is why the
	// container is not known.
	Container *corev1.Container
	// Err is a *DeclarationError or a *SeveralError, nil for none.
	Err error
}

// MemberOf returns what a pod declares and shows about its member. The pod's annotation must be the
// one that counts: observe copies that of its workload. A declaration takes precedence over what is
// shown. One that names no container of the pod declares nothing: the evidence remains, and which
// container runs etcd is unknown.
func MemberOf(pod *corev1.Pod) Member { return MemberIn(pod, nil) }

// MemberIn returns what MemberOf returns, and also reads the scripts that the pod mounts from ConfigMaps,
// and the variables of envFrom. What can't be read shows nothing.
func MemberIn(pod *corev1.Pod, contents Contents) Member {
	value, declared := pod.Annotations[v1alpha1.EtcdAnnotation]
	switch {
	case !declared:
		return shownMember(pod, contents)
	case value == v1alpha1.NotEtcd:
		return Member{}
	}
	if c := containers.Named(&pod.Spec, value); c != nil {
		return Member{Evidence: Declared, Container: c}
	}
	m := shownMember(pod, contents)
	m.Container, m.Err = nil, wrongDeclaration(pod, value)
	return m
}

// shownMember returns the only container that is shown to run etcd. One that executes etcd takes
// precedence over those that only have a member's variables. Two that do the same are a hint: only
// a declaration can show which of them is the member.
func shownMember(pod *corev1.Pod, contents Contents) Member {
	m := Member{Evidence: evidenceIn(pod, contents)}
	var shown, executing []*corev1.Container
	for _, c := range containers.Of(&pod.Spec) {
		if evidenceOf(pod, c, contents) < Shown && !wrapper(c) {
			continue
		}
		shown = append(shown, c)
		if wrapper(c) || startedIn(pod, c, contents).Program == "etcd" {
			executing = append(executing, c)
		}
	}
	if len(executing) > 0 {
		shown = executing
	}
	switch len(shown) {
	case 0:
	case 1:
		m.Container = shown[0]
	default:
		m.Evidence, m.Err = min(m.Evidence, Hinted), &SeveralError{Containers: names(shown)}
	}
	return m
}

func names(all []*corev1.Container) []string {
	out := make([]string, 0, len(all))
	for _, c := range all {
		out = append(out, c.Name)
	}
	return out
}

// DeclarationError is returned for a declaration that names no container of the pod.
type DeclarationError struct {
	// Value is the declaration, cut where it is too long for a name.
	Value string
	// Init is true where an init container has that name.
	Init bool
	// Containers are the names that may be declared.
	Containers []string
}

func (e *DeclarationError) Error() string {
	wrong := fmt.Sprintf("the pod has no container %q", e.Value)
	if e.Init {
		wrong = fmt.Sprintf("%q is an init container", e.Value)
	}
	return fmt.Sprintf("annotation %s is wrong: %s; it must be %s, or %s if none of them runs etcd",
		v1alpha1.EtcdAnnotation, wrong, strings.Join(e.Containers, " or "), v1alpha1.NotEtcd)
}

// maxName is the length of the longest name that a container can have.
const maxName = 63

func wrongDeclaration(pod *corev1.Pod, value string) *DeclarationError {
	e := &DeclarationError{Value: value}
	if len(value) > maxName {
		e.Value = value[:maxName] + "..."
	}
	e.Init = slices.ContainsFunc(pod.Spec.InitContainers, func(c corev1.Container) bool { return c.Name == value })
	e.Containers = names(containers.Of(&pod.Spec))
	return e
}

// SeveralError is returned for a pod in which several containers run etcd.
type SeveralError struct {
	Containers []string
}

func (e *SeveralError) Error() string {
	return fmt.Sprintf("containers %s of the pod both run etcd, so it is not known which of them is the member; declare it with the annotation %s=CONTAINER on the pod's workload",
		strings.Join(e.Containers, " and "), v1alpha1.EtcdAnnotation)
}
