// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestReadyMadeWays creates real members in each way that is not one StatefulSet. It compares what
// list, status and check print, what scale refuses, and what etcd-webhook does, with the verdicts of
// package clusters. They must also agree with each other.
func TestReadyMadeWays(t *testing.T) {
	beside(t)
	for _, way := range clusters.Ways() {
		t.Run(way.Name, func(t *testing.T) {
			t.Parallel()
			enter(t, len(way.Members))
			ns, p := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
			ignored := failedOpen(t)
			node := applyWay(t, way, ns)
			judged := map[string]output.EtcdClusterStatus{}
			for _, want := range way.Clusters {
				want.Name = strings.ReplaceAll(want.Name, "NODE", node)
				want.Pods = slices.Clone(want.Pods)
				for i, pod := range want.Pods {
					want.Pods[i] = strings.ReplaceAll(pod, "NODE", node)
				}
				w := wayCluster{want, ns}
				judged[want.Kind+"/"+want.Name] = w.agrees(t)
				w.refusesToScale(t)
				w.terms(t, ignored)
			}
			waysGoverned(t, p, way, judged)
			waysBudgets(t, ns, way)
		})
	}
}

// applyWay creates the clusters of a way, and removes what is outside of the namespace at the end
// of the test. It returns the node of static pods.
func applyWay(t *testing.T, way clusters.Way, ns string) string {
	t.Helper()
	n := bed.Nodes()[len(bed.Nodes())-2] // the last one has kubeadm's static pod in another test
	remove, err := way.ApplyTo(t.Context(), bed, ns, clusters.Node{Name: n.Name, Address: n.Address, Folder: bed.StaticPods(n.Name)}, t.Output())
	t.Cleanup(func() {
		if err := remove(); err != nil {
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return n.Name
}

// wayCluster is a cluster in its namespace with its verdict.
type wayCluster struct {
	want clusters.Verdict
	ns   string
}

func (w wayCluster) target() string {
	if w.want.Kind == "Pods" {
		return w.want.Name
	}
	return strings.ToLower(w.want.Kind) + "/" + w.want.Name
}

// agrees waits until list, status and check print the verdict, and print the same.
func (w wayCluster) agrees(t *testing.T) (status output.EtcdClusterStatus) {
	t.Helper()
	eventually(t, "one verdict on "+w.target(), func(context.Context) (string, bool, error) {
		var list output.EtcdClusterList
		var report output.CheckReport
		status = output.EtcdClusterStatus{}
		for out, args := range map[any][]string{
			&list: {"list"}, &status: {"status", w.target()}, &report: {"check", w.target(), skipHostChecks},
		} {
			r := startPlugin(t, append(args, "-n", w.ns, "-o", "json")...)
			r.wait(t)
			if err := json.Unmarshal([]byte(r.stdout.String()), out); err != nil {
				return fmt.Sprintf("%s: %v", args[0], r.stderr.String()), false, nil //nolint:nilerr // the command is repeated
			}
		}
		wrong := w.compare(list, status, report)
		return strings.Join(wrong, "\n"), len(wrong) == 0, nil
	})
	return status
}

// compare returns the differences between the outputs, and between them and the verdict.
func (w wayCluster) compare(list output.EtcdClusterList, status output.EtcdClusterStatus, report output.CheckReport) (wrong []string) {
	differs := func(what string, got, want any) {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			wrong = append(wrong, fmt.Sprintf("%s: %v, want %v", what, got, want))
		}
	}
	at := slices.IndexFunc(list.Items, func(c output.EtcdCluster) bool { return c.Name == w.want.Name && c.Kind == w.want.Kind })
	if at < 0 {
		return []string{fmt.Sprintf("list has %v", list.Names())}
	}
	listed := list.Items[at]
	differs("list's product", listed.Distribution, w.want.Product)
	differs("list's members", listed.Members, output.MemberCount{Desired: w.want.Size, Ready: w.want.Size})
	differs("list's Services", sorted(listed.Traffic.Services), sorted(w.want.Services))
	differs("status's cluster", status.Cluster, listed.ClusterIdentity)
	differs("status's members", status.Replicas, listed.Members)
	differs("status's voters", status.Quorum.Voters, w.want.Size)
	status.Quorum.FromEtcd = listed.Quorum.FromEtcd // list asks no member
	differs("list's quorum", listed.Quorum, status.Quorum)
	differs("status's Services", sorted(status.Traffic.Services), sorted(listed.Traffic.Services))
	differs("status's health", status.Health, output.Healthy)
	differs("status's budget", status.Budget.Name != "", w.want.Budget)
	if printed := status.Budget.Message + status.Budget.Value; !strings.Contains(printed, w.want.Budgeted) {
		differs("status's sentence on the budget", printed, w.want.Budgeted)
	}
	for i, m := range status.Members {
		if i >= len(w.want.Pods) || !strings.HasPrefix(m.Pod, w.want.Pods[i]) || m.State != output.StateOK {
			wrong = append(wrong, fmt.Sprintf("status's member %s is %s (%s), want %v", m.Pod, m.State, m.Detail, w.want.Pods))
		}
		differs("a certificate of "+m.Pod, m.CertificateExpiry != nil, w.want.TLS)
	}
	differs("check's target", report.Cluster.Target, status.Cluster.Target)
	differs("check's product", report.Cluster.Distribution, w.want.Product)
	differs("check's members", report.Cluster.Replicas, w.want.Size)
	for _, r := range report.Checks {
		if r.ID == "Q001" || r.ID == "M001" {
			differs("check "+r.ID, r.Result, "OK")
		}
		if r.Result == "Failure" {
			wrong = append(wrong, fmt.Sprintf("check %s fails: %v", r.ID, r.Findings))
		}
	}
	return wrong
}

func sorted(s []string) []string { return slices.Sorted(slices.Values(s)) }

// refusesToScale checks that scale names what adds and removes members.
func (w wayCluster) refusesToScale(t *testing.T) {
	t.Helper()
	if w.want.Membership != "" {
		refuses(t, []string{w.want.Membership}, "scale", w.target(), "--replicas", "5", "-n", w.ns, "-y")
	}
}

// terms checks whether the members have scheduling terms of the policy. A member that the API
// server created without a review may have none. ignored is failedOpen before the members.
func (w wayCluster) terms(t *testing.T, ignored string) {
	t.Helper()
	var pods corev1.PodList
	if err := kube.List(t.Context(), &pods, client.InNamespace(w.ns)); err != nil {
		t.Fatal(err)
	}
	for _, pod := range pods.Items {
		if !slices.ContainsFunc(w.want.Pods, func(p string) bool { return strings.HasPrefix(pod.Name, p) }) {
			continue
		}
		// A DaemonSet's controller gives each pod its node by an affinity.
		has := pod.Spec.Affinity != nil && pod.Spec.Affinity.PodAntiAffinity != nil || slices.ContainsFunc(pod.Spec.TopologySpreadConstraints, func(c corev1.TopologySpreadConstraint) bool { return c.LabelSelector != nil })
		if has && !w.want.Terms {
			t.Errorf("pod %s has scheduling terms: %v %v", pod.Name, pod.Spec.Affinity, pod.Spec.TopologySpreadConstraints)
		}
		if !has && w.want.Terms && failedOpen(t) == ignored {
			t.Errorf("pod %s has no scheduling terms", pod.Name)
		}
	}
}

// waysGoverned waits until the policy's status has the clusters that it does something for, and
// has the same verdict on their spread as status.
func waysGoverned(t *testing.T, p *v1alpha1.EtcdTopologyPolicy, way clusters.Way, judged map[string]output.EtcdClusterStatus) {
	t.Helper()
	var want []string
	for _, c := range way.Clusters {
		if c.Terms {
			want = append(want, c.Kind+"/"+c.Name)
		}
	}
	eventually(t, "the policy's status", func(ctx context.Context) (string, bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(p), p)
		var got []string
		agree := true
		for _, c := range p.Status.Clusters {
			got = append(got, c.Kind+"/"+c.Name)
			printed := judged[c.Kind+"/"+c.Name].Spread
			agree = agree && (printed.Kept == "True") == (c.Spread.Verdict == v1alpha1.Kept)
		}
		return fmt.Sprintf("%+v", p.Status.Clusters), agree && slices.Equal(got, want), err
	})
}

// waysBudgets checks that the namespace has a budget for each cluster that gets one.
func waysBudgets(t *testing.T, ns string, way clusters.Way) {
	t.Helper()
	want := 0
	for _, c := range way.Clusters {
		if c.Budget {
			want++
		}
	}
	eventually(t, "the budgets", func(ctx context.Context) (string, bool, error) {
		var budgets policyv1.PodDisruptionBudgetList
		err := kube.List(ctx, &budgets, client.InNamespace(ns))
		seen := fmt.Sprintf("%d budgets, want %d", len(budgets.Items), want)
		for _, b := range budgets.Items {
			seen += fmt.Sprintf("; %s %v, %d expected, %d allowed", b.Name, b.Spec.MinAvailable, b.Status.ExpectedPods, b.Status.DisruptionsAllowed)
		}
		return seen, len(budgets.Items) == want, err
	})
}
