// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// HelperEnd ends the name of the helper pod of a member. A StatefulSet's pods end in a number, so none has the name
// of a helper, also beside clusters main and restore-main.
const HelperEnd = "-restore"

// StoreEnd ends the name of the pod that mounts the store, and ImageEnd that of the pod that tries the image. Both
// begin with the StatefulSet.
const (
	StoreEnd = HelperEnd + "-store"
	ImageEnd = HelperEnd + "-image"
)

// helperPod is the helper pod of each member, which mounts its volumes.
const helperPod = step.EachPod + HelperEnd

func helperName(pod string) string { return strings.ReplaceAll(helperPod, step.EachPod, pod) }

func (r Plan) storePod() string { return r.Owner.StatefulSet + StoreEnd }

func (r Plan) imagePod() string { return r.Owner.StatefulSet + ImageEnd }

// deleteHelpers deletes helper pods of this cluster, which may exist.
func (r Plan) deleteHelpers(names ...string) step.Action {
	return step.DeleteHelpers{Names: names, Of: string(r.Owner.UID)}
}

// HelperContainer is the container of a helper pod in which commands run.
const HelperContainer = "files"

// helperResources returns the resources of a helper's container. It has limits and requests of the same resources as
// etcd's, which quotas of the namespace may require. The requests are small, so that it fits beside running members.
func helperResources(like corev1.ResourceRequirements) corev1.ResourceRequirements {
	out := corev1.ResourceRequirements{Limits: like.Limits}
	for name, small := range map[corev1.ResourceName]resource.Quantity{corev1.ResourceCPU: resource.MustParse("10m"), corev1.ResourceMemory: resource.MustParse("64Mi")} {
		of, asked := like.Requests[name]
		limit, limited := like.Limits[name]
		switch {
		case !asked && !limited:
			continue
		case asked && of.Cmp(small) < 0:
			small = of
		case limited && limit.Cmp(small) < 0:
			small = limit
		}
		if out.Requests == nil {
			out.Requests = corev1.ResourceList{}
		}
		out.Requests[name] = small
	}
	return out
}

// manifest returns a helper pod, as YAML without empty fields.
func (r *Plan) manifest(name string, like *corev1.PodSpec, c corev1.Container, volumes []corev1.Volume) (string, error) {
	grace := int64(0)
	pod := corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: r.Owner.Namespace, Name: name, Labels: map[string]string{v1alpha1.RestoreOfLabel: string(r.Owner.UID)}},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: &grace,
			ServiceAccountName: like.ServiceAccountName, AutomountServiceAccountToken: new(false),
			SecurityContext: like.SecurityContext, Tolerations: like.Tolerations, NodeSelector: like.NodeSelector, ImagePullSecrets: like.ImagePullSecrets,
			Containers: []corev1.Container{c}, Volumes: volumes,
		},
	}
	text, err := yaml.Marshal(pod)
	if err != nil {
		return "", err
	}
	var lines []string
	for line := range strings.Lines(string(text)) {
		switch strings.TrimSpace(line) {
		case "status: {}", "resources: {}", "creationTimestamp: null", "securityContext: {}":
		default:
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, ""), nil
}
