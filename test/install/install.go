// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

// Package install installs the project's own webhook and controller on a testbed, with the
// default manifests and an image of this checkout.
package install

import (
	"context"
	"fmt"
	"io"

	"k8s.io/client-go/rest"

	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// The names from the manifests.
const (
	Name      = "etcd-webhook"
	Namespace = "kubectl-etcd-system"
)

// Testbed is what this package needs to know of a testbed.
type Testbed interface {
	// RESTConfig returns the configuration of an administrator.
	RESTConfig() (*rest.Config, error)
	// Kubeconfig returns the path of the same configuration as a file. Kubectl returns the path
	// of kubectl.
	Kubeconfig() string
	Kubectl() string
	// Registry returns the registry from which the nodes pull all images.
	Registry() string
}

// Install installs etcd-webhook, or updates it to this checkout, and waits until it responds. It
// can be called again at any time.
func Install(ctx context.Context, tb Testbed) error {
	if err := install(ctx, tb); err != nil {
		return fmt.Errorf("install %s: %w", Name, err)
	}
	return nil
}

func install(ctx context.Context, tb Testbed) error {
	if err := images.Push(ctx, programs.Cache{}, tb.Registry(), []string{images.Webhook}, io.Discard); err != nil {
		return err
	}
	k, err := connect(tb)
	if err != nil {
		return err
	}
	objects, err := k.manifests(ctx)
	if err != nil {
		return err
	}
	if err := k.apply(ctx, objects); err != nil {
		return err
	}
	_, err = k.kubectl(ctx, nil, "rollout", "status", "deployment/"+Name, "--namespace", Namespace, "--timeout", "10m")
	return err
}

// Uninstall restores the budgets and removes the objects that Install created. The policies and
// their definition stay for the next Install.
func Uninstall(ctx context.Context, tb Testbed) error {
	if err := uninstall(ctx, tb); err != nil {
		return fmt.Errorf("uninstall %s: %w", Name, err)
	}
	return nil
}

func uninstall(ctx context.Context, tb Testbed) error {
	k, err := connect(tb)
	if err != nil {
		return err
	}
	modes, err := k.switchOff(ctx)
	if err != nil {
		return err
	}
	if err := k.awaitReleased(ctx); err != nil {
		return err
	}
	objects, err := k.manifests(ctx)
	if err != nil {
		return err
	}
	if err := k.remove(ctx, objects); err != nil {
		return err
	}
	return k.switchBack(ctx, modes)
}
