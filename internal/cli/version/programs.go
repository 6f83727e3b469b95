// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/install"
)

func programLines(name string, server *v1alpha1.ServerVersion) []string {
	var lines []string
	for _, p := range server.Programs {
		if p.Name == name {
			lines = append(lines, fmt.Sprintf("%s: %s (Deployment %s/%s, %d of %d ready)", name, p.Version, p.Namespace, p.Deployment, p.Ready, p.Desired))
		}
	}
	switch {
	case len(lines) > 0:
		return lines
	case server.ProgramsUnknown != "":
		return []string{name + ": not known: " + server.ProgramsUnknown}
	}
	return []string{name + ": not found"}
}

// programs are the programs in a cluster that the plugin works with. The name is the value of the
// label app.kubernetes.io/name of their Deployments.
var programs = []string{"etcd-webhook", "etcd-druid"}

func serverVersion(ctx context.Context, a *app.App) (*v1alpha1.ServerVersion, error) {
	kube, err := a.Client()
	if err != nil {
		return nil, err
	}
	config, err := a.Config()
	if err != nil {
		return nil, err
	}
	server, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, err
	}
	info, err := server.ServerVersionWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the version of %s: %w", config.Host, err)
	}
	v := &v1alpha1.ServerVersion{Kubernetes: info.GitVersion}
	if v.Programs, err = readPrograms(ctx, kube); err != nil {
		// Many users may not list the Deployments of all namespaces.
		v.ProgramsUnknown = err.Error()
	}
	return v, nil
}

func readPrograms(ctx context.Context, kube client.Reader) ([]v1alpha1.ProgramVersion, error) {
	named, err := labels.NewRequirement("app.kubernetes.io/name", selection.In, programs)
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
			Version: install.DeploymentVersion(&d), Ready: d.Status.ReadyReplicas, Desired: ptr.Deref(d.Spec.Replicas, 1),
		})
	}
	return programs, nil
}
