// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// trimListed trims an object of a list that was read from the API server. It keeps what the cache keeps, and of pods also
// what shows whether a container was ever started.
func trimListed(o runtime.Object) error {
	switch o := o.(type) {
	case *corev1.Pod:
		trimListedPod(o)
	case *appsv1.StatefulSet:
		trimStatefulSet(o)
	case *policyv1.PodDisruptionBudget:
		trimBudget(o)
	case *corev1.Service:
		trimService(o)
	case *corev1.PersistentVolumeClaim:
		trimClaim(o)
	case *coordinationv1.Lease:
		trimLease(o)
	case *druidv1alpha1.Etcd:
		trimEtcd(o)
	default:
		return nil
	}
	trimMeta(o.(metav1.Object)) //nolint:forcetypeassert // all of the kinds above have metadata
	return nil
}

func trimListedPod(p *corev1.Pod) {
	inits := p.Spec.InitContainers[:min(len(p.Spec.InitContainers), mostContainers)]
	initStatuses, statuses := p.Status.InitContainerStatuses, p.Status.ContainerStatuses
	trimPod(p)
	for _, c := range inits {
		p.Spec.InitContainers = append(p.Spec.InitContainers, corev1.Container{Name: c.Name, RestartPolicy: c.RestartPolicy})
	}
	p.Status.InitContainerStatuses = withoutTexts(initStatuses)
	p.Status.ContainerStatuses = withoutTexts(statuses)
}

// withoutTexts returns the statuses of containers without what they print and where they come from.
func withoutTexts(all []corev1.ContainerStatus) []corev1.ContainerStatus {
	var out []corev1.ContainerStatus
	for _, c := range all[:min(len(all), mostContainers)] {
		for _, state := range []*corev1.ContainerState{&c.State, &c.LastTerminationState} {
			if state.Waiting != nil {
				state.Waiting.Message = ""
			}
			if state.Terminated != nil {
				state.Terminated.Message = ""
			}
		}
		out = append(out, corev1.ContainerStatus{
			Name: c.Name, State: c.State, LastTerminationState: c.LastTerminationState, Ready: c.Ready, RestartCount: c.RestartCount,
		})
	}
	return out
}
