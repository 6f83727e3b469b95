// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package clusters

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Delete deletes a cluster with its volumes, certificates and backups, and waits until they are
// gone. Missing objects are no error. The namespace stays.
func (c *Cluster) Delete(ctx context.Context) error {
	if err := c.delete(ctx); err != nil {
		return fmt.Errorf("delete cluster %s: %w", c, err)
	}
	return nil
}

func (c *Cluster) delete(ctx context.Context) error {
	if err := c.dismiss(ctx); err != nil {
		return err
	}
	ours := c.ours()
	if err := c.awaitNone(ctx, "pods", &corev1.PodList{}, c.MemberLabels()); err != nil {
		return err
	}
	for _, k := range c.kinds() {
		// This includes Secrets. druid's finalizer keeps them for a while, and a new cluster of
		// the same name must not start with certificates that are about to be deleted.
		if err := c.awaitNone(ctx, k.name, k.list, ours); err != nil {
			return err
		}
	}
	volumes, err := c.volumes(ctx)
	if err != nil {
		return err
	}
	err = c.kube.DeleteAllOf(ctx, &corev1.PersistentVolumeClaim{}, client.InNamespace(c.Namespace), client.MatchingLabels(c.claimLabels()))
	if err != nil {
		return err
	}
	if err := c.awaitNone(ctx, "volume claims", &corev1.PersistentVolumeClaimList{}, c.claimLabels()); err != nil {
		return err
	}
	if err := c.awaitVolumesGone(ctx, volumes); err != nil {
		return err
	}
	return c.deleteStore(ctx)
}

// Dismiss starts the deletion of a cluster and doesn't wait. Delete finishes it.
func (c *Cluster) Dismiss(ctx context.Context) error {
	if err := c.dismiss(ctx); err != nil {
		return fmt.Errorf("dismiss cluster %s: %w", c, err)
	}
	return nil
}

func (c *Cluster) dismiss(ctx context.Context) error {
	for _, k := range c.kinds() {
		err := c.kube.DeleteAllOf(ctx, k.object, client.InNamespace(c.Namespace), client.MatchingLabels(c.ours()))
		if err != nil && !meta.IsNoMatchError(err) {
			return err
		}
	}
	return nil
}

// ours returns the labels of everything that Apply created.
func (c *Cluster) ours() map[string]string { return map[string]string{clusterLabel: c.Name} }

// kind is a kind of object that Apply creates.
type kind struct {
	name   string
	object client.Object
	list   client.ObjectList
}

// kinds lists the kinds of a cluster's objects, owners first. While an owner exists, it creates
// deleted objects again.
func (c *Cluster) kinds() []kind {
	kinds := []kind{
		{"StatefulSets", &appsv1.StatefulSet{}, &appsv1.StatefulSetList{}},
		{"budgets", &policyv1.PodDisruptionBudget{}, &policyv1.PodDisruptionBudgetList{}},
		{"Services", &corev1.Service{}, &corev1.ServiceList{}},
		{"Secrets", &corev1.Secret{}, &corev1.SecretList{}},
	}
	if c.Flavour == Druid {
		kinds = append([]kind{
			{"Etcds", &druidv1alpha1.Etcd{}, &druidv1alpha1.EtcdList{}},
			{"EtcdOpsTasks", &druidv1alpha1.EtcdOpsTask{}, &druidv1alpha1.EtcdOpsTaskList{}},
		}, kinds...)
	}
	return kinds
}

// deleteStore deletes the backups. Otherwise a new cluster of the same name would restore them.
func (c *Cluster) deleteStore(ctx context.Context) error {
	if c.Flavour != Druid {
		return nil
	}
	if err := c.HealStore(ctx); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(c.testbed.Shared(), bucketsDir, c.Container()))
}

// claimLabels returns the labels of the members' volume claims, which a StatefulSet copies from
// its selector.
func (c *Cluster) claimLabels() map[string]string {
	labels := c.MemberLabels()
	if c.Flavour == Druid {
		delete(labels, "app.kubernetes.io/component")
	}
	return labels
}

// volumes returns the names of the volumes that the members' claims are bound to.
func (c *Cluster) volumes(ctx context.Context) ([]string, error) {
	var claims corev1.PersistentVolumeClaimList
	if err := c.kube.List(ctx, &claims, client.InNamespace(c.Namespace), client.MatchingLabels(c.claimLabels())); err != nil {
		return nil, err
	}
	var names []string
	for _, claim := range claims.Items {
		if claim.Spec.VolumeName != "" {
			names = append(names, claim.Spec.VolumeName)
		}
	}
	return names, nil
}

func (c *Cluster) awaitVolumesGone(ctx context.Context, names []string) error {
	return Await(ctx, goneLimit, fmt.Sprintf("volumes of %s to go", c), func(ctx context.Context) (string, bool, error) {
		for _, name := range names {
			var volume corev1.PersistentVolume
			err := c.kube.Get(ctx, client.ObjectKey{Name: name}, &volume)
			if client.IgnoreNotFound(err) != nil {
				return "", false, err
			}
			if err == nil {
				return fmt.Sprintf("volume %s %s", name, volume.Status.Phase), false, nil
			}
		}
		return "", true, nil
	})
}

// awaitNone waits until the namespace has no object of the list's kind with the labels.
func (c *Cluster) awaitNone(ctx context.Context, what string, list client.ObjectList, labels map[string]string) error {
	return Await(ctx, goneLimit, fmt.Sprintf("%s of %s to go", what, c), func(ctx context.Context) (string, bool, error) {
		err := c.kube.List(ctx, list, client.InNamespace(c.Namespace), client.MatchingLabels(labels))
		if meta.IsNoMatchError(err) {
			return "", true, nil
		}
		if err != nil {
			return "", false, err
		}
		return fmt.Sprintf("%d left", meta.LenList(list)), meta.LenList(list) == 0, nil
	})
}
