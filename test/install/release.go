// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// modes are the modes of policies by name.
type modes map[string]v1alpha1.Mode

// switchOff sets the mode of every policy to Off, as a user does before uninstalling. It returns
// the previous modes.
func (k *kube) switchOff(ctx context.Context) (modes, error) {
	var policies v1alpha1.EtcdTopologyPolicyList
	if err := k.List(ctx, &policies); err != nil {
		if meta.IsNoMatchError(err) || apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, fmt.Errorf("list EtcdTopologyPolicies: %w", err)
	}
	were := modes{}
	for i := range policies.Items {
		p := &policies.Items[i]
		were[p.Name] = p.Spec.Mode
		if err := k.setMode(ctx, p, v1alpha1.ModeOff); err != nil {
			return nil, err
		}
	}
	return were, nil
}

func (k *kube) switchBack(ctx context.Context, were modes) error {
	for _, name := range slices.Sorted(maps.Keys(were)) {
		p := &v1alpha1.EtcdTopologyPolicy{}
		p.Name = name
		if err := k.Get(ctx, client.ObjectKeyFromObject(p), p); err != nil {
			return fmt.Errorf("read EtcdTopologyPolicy %s: %w", name, err)
		}
		if err := k.setMode(ctx, p, were[name]); err != nil {
			return err
		}
	}
	return nil
}

func (k *kube) setMode(ctx context.Context, p *v1alpha1.EtcdTopologyPolicy, mode v1alpha1.Mode) error {
	before := p.DeepCopy()
	p.Spec.Mode = mode
	if err := k.Patch(ctx, p, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("set EtcdTopologyPolicy %s to %s: %w", p.Name, mode, err)
	}
	return nil
}

// awaitReleased waits until no budget has a record of the controller. A controller that isn't
// running restores nothing, so then awaitReleased doesn't wait.
func (k *kube) awaitReleased(ctx context.Context) error {
	var d appsv1.Deployment
	err := k.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: Name}, &d)
	if err != nil || d.Status.ReadyReplicas == 0 {
		return client.IgnoreNotFound(err)
	}
	return await(ctx, "the budgets to be restored", func(ctx context.Context) (string, bool, error) {
		var all policyv1.PodDisruptionBudgetList
		if err := k.List(ctx, &all); err != nil {
			return "", false, err
		}
		var kept []string
		for _, pdb := range all.Items {
			if pdb.Annotations[v1alpha1.BudgetForAnnotation] != "" {
				kept = append(kept, pdb.Namespace+"/"+pdb.Name)
			}
		}
		return "not restored: " + strings.Join(kept, ", "), len(kept) == 0, nil
	})
}
