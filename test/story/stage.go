// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// policyLabel is the label of the namespaces that the story's policy selects.
const policyLabel = "etcd-topology"

// setStage installs druid and etcd-webhook, and removes the clusters of an earlier play.
func setStage(ctx context.Context, w *World) error {
	w.Do("build etcd-druid, etcd-backup-restore, etcd and etcd-webhook, and their images")
	var names []string
	for _, image := range images.Known() {
		if image.Name != images.CertManager { // the story doesn't use cert-manager
			names = append(names, image.Name)
		}
	}
	if err := images.Push(ctx, programs.Cache{}, w.Testbed.Registry(), names, w.Log); err != nil {
		return err
	}
	w.Do("install etcd-druid and etcd-webhook")
	together, run := errgroup.WithContext(ctx)
	together.Go(func() error {
		return clusters.InstallDruid(run, w.Testbed, clusters.DruidOptions{OwnTimings: true})
	})
	together.Go(func() error { return install.Install(run, w.Testbed) })
	together.Go(func() error { return w.clear(run) })
	if err := together.Wait(); err != nil {
		return err
	}
	w.Do("label namespace %s: %s=enforced", inside, policyLabel)
	for name, labels := range map[string]map[string]string{inside: {policyLabel: "enforced"}, outside: nil} {
		if err := w.ensureNamespace(ctx, name, labels); err != nil {
			return err
		}
	}
	return w.applyPolicy(ctx)
}

// clear deletes the clusters of an earlier play. Their namespaces stay.
func (w *World) clear(ctx context.Context) error {
	if err := w.casting(); err != nil {
		return err
	}
	together, run := errgroup.WithContext(ctx)
	for _, c := range w.cast() {
		together.Go(func() error {
			if err := c.HealStore(run); err != nil {
				return err
			}
			return c.Delete(run)
		})
	}
	return together.Wait()
}

// casting sets the story's clusters. Only one of them has an affinity.
func (w *World) casting() (err error) {
	at := func(namespace, name string, spec clusters.Spec) *clusters.Cluster {
		c, failed := clusters.At(w.Testbed, namespace, name, spec)
		if failed != nil {
			err = failed
		}
		return c
	}
	spec := clusters.Spec{Flavour: clusters.Druid, Size: 3}
	literal := spec
	literal.Apart = corev1.LabelTopologyZone
	w.main, w.grow = at(inside, "main", spec), at(inside, "grow", spec)
	w.literal, w.outside = at(inside, "literal", literal), at(outside, "main", spec)
	return err
}

// cast returns the clusters that take part in the steps to be played.
func (w *World) cast() []*clusters.Cluster {
	cast := []*clusters.Cluster{w.main, w.outside}
	if w.grows {
		cast = append(cast, w.grow, w.literal)
	}
	return cast
}

func (w *World) ensureNamespace(ctx context.Context, name string, labels map[string]string) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	if err := client.IgnoreAlreadyExists(w.Client.Create(ctx, namespace)); err != nil {
		return fmt.Errorf("create namespace %s: %w", name, err)
	}
	return nil
}

// applyPolicy writes the default policy. Except for the durations, all fields have the CRD's
// defaults.
func (w *World) applyPolicy(ctx context.Context) error {
	p := &v1alpha1.EtcdTopologyPolicy{}
	p.Name = "default"
	if err := client.IgnoreNotFound(w.Client.Delete(ctx, p.DeepCopy())); err != nil {
		return fmt.Errorf("remove the policy of an earlier play: %w", err)
	}
	p.Spec.NamespaceSelector = &v1alpha1.Selector{MatchLabels: map[string]v1alpha1.LabelValue{policyLabel: "enforced"}}
	p.Spec.Disruption.BackupHoldLimit = &metav1.Duration{Duration: w.holdLimit()}
	p.Spec.Disruption.Settle = &metav1.Duration{Duration: settle}
	w.Do("apply EtcdTopologyPolicy default: namespaces with %s=enforced; backupHoldLimit %s and settle %s, all else by default",
		policyLabel, w.holdLimit(), settle)
	if err := w.Client.Create(ctx, p); err != nil {
		return fmt.Errorf("create EtcdTopologyPolicy default: %w", err)
	}
	w.Report("spread: %s, %s, %s", p.Spec.Spread.Topology, p.Spec.Spread.Enforcement, p.Spec.Spread.Form)
	return clusters.Await(ctx, limit, "etcd-webhook to read the policy", func(ctx context.Context) (string, bool, error) {
		err := w.Client.Get(ctx, client.ObjectKeyFromObject(p), p)
		return "it has no status", p.Status.ObservedGeneration == p.Generation, err
	})
}
