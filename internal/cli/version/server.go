// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package version

import (
	"context"
	"fmt"

	"k8s.io/client-go/discovery"

	"github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/cli/app"
	"github.com/kubectl-etcd/kubectl-etcd/internal/install"
)

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
	if v.Programs, err = install.ReadPrograms(ctx, kube); err != nil {
		// Many users may not list the Deployments of all namespaces.
		v.ProgramsUnknown = err.Error()
	}
	return v, nil
}
