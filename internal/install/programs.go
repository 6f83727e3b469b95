// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
)

// Programs are the programs in a cluster that the plugin works with. The name is the value of the
// label app.kubernetes.io/name of their Deployments.
var Programs = []string{"etcd-webhook", "etcd-druid"}

// ReadPrograms returns the Deployments of Programs in all namespaces, with their versions.
func ReadPrograms(ctx context.Context, kube client.Reader) ([]v1alpha1.ProgramVersion, error) {
	named, err := labels.NewRequirement("app.kubernetes.io/name", selection.In, Programs)
	if err != nil {
		return nil, err
	}
	var found appsv1.DeploymentList
	if err := kube.List(ctx, &found, client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*named)}); err != nil {
		return nil, err
	}
	var programs []v1alpha1.ProgramVersion
	for _, d := range found.Items {
		programs = append(programs, v1alpha1.ProgramVersion{
			Name: d.Labels["app.kubernetes.io/name"], Namespace: d.Namespace, Deployment: d.Name,
			Version: deploymentVersion(&d), Ready: d.Status.ReadyReplicas, Desired: ptr.Deref(d.Spec.Replicas, 1),
		})
	}
	return programs, nil
}
