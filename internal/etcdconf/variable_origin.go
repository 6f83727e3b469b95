// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package etcdconf

import (
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
)

// VariableOrigin returns the object and key that a variable of a container is read from. Its Kind
// is empty if the pod itself has the value, or if nothing sets it.
func VariableOrigin(pod *corev1.Pod, container, name string, contents Contents) Origin {
	c := containers.Named(&pod.Spec, container)
	if c == nil {
		return Origin{}
	}
	for _, v := range slices.Backward(c.Env) {
		if v.Name != name {
			continue
		}
		switch from := v.ValueFrom; {
		case from == nil:
			return referredOrigin(pod, container, v.Value, contents)
		case from.SecretKeyRef != nil:
			return Origin{Kind: "Secret", Name: from.SecretKeyRef.Name, Key: from.SecretKeyRef.Key}
		case from.ConfigMapKeyRef != nil:
			return Origin{Kind: "ConfigMap", Name: from.ConfigMapKeyRef.Name, Key: from.ConfigMapKeyRef.Key}
		}
		return Origin{}
	}
	for _, f := range slices.Backward(c.EnvFrom) {
		key, ok := strings.CutPrefix(name, f.Prefix)
		origin := Origin{Key: key}
		switch {
		case !ok:
			continue
		case f.SecretRef != nil:
			origin.Kind, origin.Name = "Secret", f.SecretRef.Name
		case f.ConfigMapRef != nil:
			origin.Kind, origin.Name = "ConfigMap", f.ConfigMapRef.Name
		default:
			continue
		}
		if data, err := contents(origin.Kind, origin.Name); err == nil && data[key] != nil {
			return origin
		}
	}
	return Origin{}
}

// referredOrigin returns the origin of a value that is only a reference to another variable.
func referredOrigin(pod *corev1.Pod, container, value string, contents Contents) Origin {
	other, ok := cutBoth(value, "$(", ")")
	c := containers.Named(&pod.Spec, container)
	at := slices.IndexFunc(c.Env, func(v corev1.EnvVar) bool { return v.Name == other })
	if !ok || at >= 0 && c.Env[at].ValueFrom == nil {
		return Origin{} // a second reference would be a chain, which can be a loop
	}
	return VariableOrigin(pod, container, other, contents)
}
