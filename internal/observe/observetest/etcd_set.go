// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observetest

import (
	"fmt"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// EtcdSet returns a StatefulSet of etcd members that list those of others, each given as NAME/REPLICAS.
func EtcdSet(as string, others ...string) *appsv1.StatefulSet {
	var entries []string
	for _, set := range append([]string{as}, others...) {
		name, replicas := nameAndReplicas(set)
		for i := range replicas {
			entries = append(entries, fmt.Sprintf("%s-%d=http://%s-%d.%s:2380", name, i, name, i, name))
		}
	}
	name, replicas := nameAndReplicas(as)
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name, UID: types.UID(name)}}
	sts.Spec.Replicas, sts.Spec.ServiceName = new(int32(replicas)), name //nolint:gosec // it is small
	sts.Status.ReadyReplicas = *sts.Spec.Replicas
	sts.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	sts.Spec.Template.Labels = map[string]string{"app": name}
	sts.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "etcd",
		Env: []corev1.EnvVar{
			{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			{Name: "ETCD_INITIAL_CLUSTER", Value: strings.Join(entries, ",")},
		},
		Command: []string{"etcd", "--name=$(POD)", "--initial-advertise-peer-urls=http://$(POD)." + name + ":2380"},
	}}
	return sts
}

func nameAndReplicas(set string) (string, int) {
	name, number, _ := strings.Cut(set, "/")
	replicas, err := strconv.Atoi(number)
	if err != nil {
		return name, 1
	}
	return name, replicas
}
