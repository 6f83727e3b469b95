// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	bytereader "bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

func (g *gatherer) statefulSet(ctx context.Context) (*appsv1.StatefulSet, error) {
	if g.Owner.StatefulSet == "" {
		return nil, nil
	}
	var sts appsv1.StatefulSet
	err := g.Reader.Get(ctx, client.ObjectKey{Namespace: g.Owner.Namespace, Name: g.Owner.StatefulSet}, &sts)
	if err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return &sts, nil
}

func (g *gatherer) etcd(ctx context.Context) (*druidv1alpha1.Etcd, error) {
	if g.Owner.Flavour != observe.Druid {
		return nil, nil
	}
	var etcd druidv1alpha1.Etcd
	err := g.Reader.Get(ctx, client.ObjectKey{Namespace: g.Owner.Namespace, Name: g.Owner.Name}, &etcd)
	return &etcd, err
}

func (g *gatherer) claims(ctx context.Context) ([]corev1.PersistentVolumeClaim, error) {
	if len(g.Owner.Claims) == 0 {
		return nil, nil
	}
	var all corev1.PersistentVolumeClaimList
	if err := g.Reader.List(ctx, &all, client.InNamespace(g.Owner.Namespace)); err != nil {
		return nil, err
	}
	own := map[string]bool{}
	for _, c := range g.Owner.Claims {
		for i := range g.size() {
			own[c.Template+"-"+g.Owner.PodName(i)] = true
		}
	}
	return slices.DeleteFunc(all.Items, func(c corev1.PersistentVolumeClaim) bool { return !own[c.Name] }), nil
}

// fill asks the kubelets of the members' nodes how full their volumes are.
func (g *gatherer) fill(ctx context.Context) ([]Fill, error) {
	if err := cmp.Or(g.Pods.Err, g.Claims.Err); err != nil {
		return nil, err
	}
	config := rest.CopyConfig(g.Config)
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	kubelets, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, err
	}
	var found []Fill
	asked := map[string]bool{}
	for _, pod := range g.Pods.Value {
		node := pod.Spec.NodeName
		if node == "" || asked[node] {
			continue
		}
		asked[node] = true
		raw, err := kubelets.Get().AbsPath("/api/v1/nodes", node, "proxy/metrics").Do(ctx).Raw()
		if err != nil {
			return nil, refusal(raw, err)
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(bytereader.NewReader(raw))
		if err != nil {
			return nil, fmt.Errorf("metrics of the kubelet of %s: %w", node, err)
		}
		for _, claim := range g.Claims.Value {
			if fill, measured := fillOf(families, claim.Namespace, claim.Name); measured {
				found = append(found, fill)
			}
		}
	}
	return found, nil
}

// refusal is the API server's own words where it gave any, instead of an error that
// knows no kind to decode them into.
func refusal(body []byte, err error) error {
	var status metav1.Status
	if json.Unmarshal(body, &status) != nil || status.Message == "" {
		return err
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// fillOf is what a kubelet has measured of one claim, false where it hasn't.
func fillOf(families metrics, namespace, claim string) (Fill, bool) {
	of := func(name string) int64 {
		for _, m := range families["kubelet_volume_stats_"+name].GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if labels["namespace"] == namespace && labels["persistentvolumeclaim"] == claim {
				return int64(m.GetGauge().GetValue())
			}
		}
		return 0
	}
	f := Fill{
		Claim: claim, Used: of("used_bytes"), Capacity: of("capacity_bytes"),
		InodesUsed: of("inodes_used"), InodesOf: of("inodes"),
	}
	return f, f.Capacity > 0
}

// budgets finds those whose selector matches a member, or the next one.
func (g *gatherer) budgets(ctx context.Context) {
	g.Budgets = got(g.Reader.Budgets(ctx, g.Owner))
	var all policyv1.PodDisruptionBudgetList
	if err := g.Reader.List(ctx, &all, client.InNamespace(g.Owner.Namespace)); err != nil {
		g.Selecting.Err = err
		return
	}
	pods, err := g.Reader.MemberPods(ctx, g.Owner)
	if err != nil {
		g.Selecting.Err = err
		return
	}
	if pod, found, err := g.Reader.MemberPod(ctx, g.Owner); len(pods) == 0 && err == nil && found {
		pods = append(pods, pod)
	}
	for _, b := range all.Items {
		if slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return selects(&b, p) }) {
			g.Selecting.Value = append(g.Selecting.Value, b)
		}
	}
	g.selectsOthers(ctx, pods)
}

// selectsOthers finds those budgets of the members that select other pods, too.
func (g *gatherer) selectsOthers(ctx context.Context, members []*corev1.Pod) {
	if len(g.Selecting.Value) == 0 {
		return
	}
	var around corev1.PodList
	if err := g.Reader.List(ctx, &around, client.InNamespace(g.Owner.Namespace)); err != nil {
		g.Selecting.Err = err
		return
	}
	for _, b := range g.Selecting.Value {
		if slices.ContainsFunc(around.Items, func(p corev1.Pod) bool { return selects(&b, &p) && podNamed(members, p.Name) == nil }) {
			g.Wide = append(g.Wide, b.Name)
		}
	}
}

// placement finds where members run, where they may, and what the policy that
// governs the cluster makes of it.
func (g *gatherer) placement(ctx context.Context) {
	match, err := g.Reader.PolicyFor(ctx, g.Owner)
	g.Policy = got(match, notServed(err))
	settings := spread.Settings{Topology: spread.TopologyAuto, ZoneKey: spread.ZoneKey}
	if match.Policy != nil {
		settings = observe.SpreadSettings(match.Policy)
	}
	members, err := g.Reader.Placement(ctx, g.Owner, settings.ZoneKey)
	g.Placement = got(members, err)
	outlook, err := g.outlook(ctx, settings.ZoneKey)
	g.Nodes = got(outlook.Nodes, err)
	if err == nil {
		err = g.Placement.Err
	}
	verdict := spread.Evaluate(outlook, settings)
	g.Standing = got(spread.StatusOf(g.size(), members, verdict.Topology, outlook.Nodes), err)
}

func (g *gatherer) outlook(ctx context.Context, zoneKey string) (spread.Facts, error) {
	pod, found, err := g.Reader.MemberPod(ctx, g.Owner)
	if err != nil {
		return spread.Facts{}, err
	}
	if !found {
		pods, err := g.Reader.MemberPods(ctx, g.Owner)
		if err != nil || len(pods) == 0 {
			return spread.Facts{}, err
		}
		pod = pods[0]
	}
	return g.Reader.SpreadOutlook(ctx, g.Owner, pod, zoneKey)
}

// webhook says whether etcd-webhook is asked about pods.
func (g *gatherer) webhook(ctx context.Context) (bool, error) {
	var all admissionregistrationv1.MutatingWebhookConfigurationList
	if err := g.Reader.List(ctx, &all); err != nil {
		return false, err
	}
	for _, c := range all.Items {
		for _, w := range c.Webhooks {
			if strings.HasSuffix(w.Name, entries.Suffix) {
				return true, nil
			}
		}
	}
	return false, nil
}
