// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package story

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// spreadThree creates the story's clusters and checks where their members are.
func spreadThree(ctx context.Context, w *World) error {
	together, run := errgroup.WithContext(ctx)
	for _, c := range w.cast() {
		w.Do("create Etcd %s with 3 members%s", c, affinityNote(c))
		together.Go(func() error {
			_, err := clusters.Apply(run, w.Testbed, c.Namespace, c.Name, c.Spec)
			return err
		})
	}
	if err := together.Wait(); err != nil {
		return err
	}
	if err := awaitPlaced(ctx, 3, w.cast()...); err != nil {
		return err
	}
	if err := w.disturb(ctx, "spread"); err != nil {
		return err
	}
	w.Report("etcd-backup-restore takes about two minutes to bootstrap three members")
	if err := awaitReady(ctx, w.cast()...); err != nil {
		return err
	}
	if err := w.oneMemberAZone(ctx, w.main); err != nil {
		return err
	}
	if err := w.untouched(ctx, w.outside); err != nil {
		return err
	}
	return w.dismiss(ctx, w.outside)
}

// dismiss deletes a cluster that the story no longer needs, because the machine may be small.
func (w *World) dismiss(ctx context.Context, c *clusters.Cluster) error {
	w.Do("kubectl delete etcd %s -n %s", c.Name, c.Namespace)
	return c.Dismiss(ctx)
}

func affinityNote(c *clusters.Cluster) string {
	if c.Apart == "" {
		return ", without affinity"
	}
	return ", with DEP-01's literal anti-affinity on " + c.Apart
}

func awaitReady(ctx context.Context, all ...*clusters.Cluster) error {
	together, ctx := errgroup.WithContext(ctx)
	for _, c := range all {
		together.Go(func() error { return c.WaitReady(ctx) })
	}
	return together.Wait()
}

// awaitPlaced waits until want members of each cluster have a node. After the story has
// disturbed the cluster, a member may stay Pending for reasons that are not failures. A pod that
// is created while the webhook is away has no terms. If the scheduler has bound a pod's volume
// but not the pod, the pod is tied to a zone that another member may take.
func awaitPlaced(ctx context.Context, want int, all ...*clusters.Cluster) error {
	together, ctx := errgroup.WithContext(ctx)
	for _, c := range all {
		together.Go(func() error {
			return clusters.Await(ctx, limit, fmt.Sprintf("%d members of %s to have a node", want, c), func(ctx context.Context) (string, bool, error) {
				members, err := c.Members(ctx)
				placed := 0
				for _, m := range members {
					if m.Node != "" {
						placed++
					}
				}
				return fmt.Sprintf("%d have one", placed), placed == want, err
			})
		})
	}
	return together.Wait()
}

func (w *World) oneMemberAZone(ctx context.Context, c *clusters.Cluster) error {
	members, err := w.showMembers(ctx, c)
	if err != nil {
		return err
	}
	zones := clusters.Zones(members)
	if len(zones) != 3 {
		return fmt.Errorf("members of %s are in %d zones, not 3: %v", c, len(zones), zones)
	}
	etcd, err := c.Etcd(ctx)
	if err != nil {
		return err
	}
	if a := etcd.Spec.SchedulingConstraints.Affinity; a != nil {
		return fmt.Errorf("Etcd %s has an affinity of its own: %v", c, a) //nolint:staticcheck // Etcd is the kind's name
	}
	w.Good("%s: one member in each zone; the Etcd still has no affinity", c)
	return nil
}

// untouched checks that the members of a cluster outside the policy have no scheduling terms.
func (w *World) untouched(ctx context.Context, c *clusters.Cluster) error {
	members, err := w.showMembers(ctx, c)
	if err != nil {
		return err
	}
	for _, m := range members {
		if m.Pod.Spec.Affinity != nil || len(m.Pod.Spec.TopologySpreadConstraints) > 0 {
			return fmt.Errorf("pod %s/%s is outside the policy and has scheduling terms: %s", c.Namespace, m.Pod.Name, terms(&m.Pod))
		}
	}
	w.Good("%s, outside the policy: no term in any pod", c)
	return nil
}

// showMembers prints the nodes of the members and the terms of their pods.
func (w *World) showMembers(ctx context.Context, c *clusters.Cluster) ([]clusters.Member, error) {
	members, err := c.Members(ctx)
	if err != nil {
		return nil, err
	}
	rows := [][]string{{"POD", "PHASE", "NODE", "ZONE", "TERMS"}}
	for _, m := range members {
		rows = append(rows, []string{m.Pod.Name, string(m.Pod.Status.Phase), orDash(m.Node), orDash(m.Zone), terms(&m.Pod)})
	}
	w.Table(rows...)
	return members, nil
}

// terms returns a short text of a pod's scheduling terms.
func terms(pod *corev1.Pod) string {
	var all []string
	if a := pod.Spec.Affinity; a != nil && a.PodAntiAffinity != nil {
		for _, t := range a.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
			all = append(all, "anti-affinity "+short(t.TopologyKey))
		}
		for _, t := range a.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
			all = append(all, "preferred anti-affinity "+short(t.PodAffinityTerm.TopologyKey))
		}
	}
	for _, t := range pod.Spec.TopologySpreadConstraints {
		text := fmt.Sprintf("spread %s %s", short(t.TopologyKey), t.WhenUnsatisfiable)
		if t.MinDomains != nil {
			text += fmt.Sprintf(" minDomains %d", *t.MinDomains)
		}
		all = append(all, text)
	}
	if pod.Annotations[v1alpha1.SpreadAnnotation] == "" && len(all) > 0 {
		all = append(all, "(its own)")
	}
	return orDash(strings.Join(slices.Clip(all), ", "))
}

func short(key string) string { return key[strings.LastIndex(key, "/")+1:] }

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
