// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package gather

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/rest"

	"github.com/kubectl-etcd/kubectl-etcd/internal/health"
)

// fill asks the kubelets of the members' nodes how full their volumes are.
func (g *gatherer) fill(ctx context.Context) ([]health.Fill, error) {
	if err := cmp.Or(g.Pods.Err, g.Claims.Err); err != nil {
		return nil, err
	}
	config := rest.CopyConfig(g.Config)
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	kubelets, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, err
	}
	var found []health.Fill
	asked := map[string]bool{}
	for _, pod := range g.Pods.Value {
		node := pod.Spec.NodeName
		if node == "" || asked[node] {
			continue
		}
		asked[node] = true
		raw, err := kubelets.Get().AbsPath("/api/v1/nodes", node, "proxy/metrics").Do(ctx).Raw()
		if err != nil {
			return nil, apiError(raw, err)
		}
		parser := expfmt.NewTextParser(model.UTF8Validation)
		families, err := parser.TextToMetricFamilies(bytes.NewReader(raw))
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

// apiError returns the API server's own message where it gave one, instead of an error that
// has no kind to decode it into.
func apiError(body []byte, err error) error {
	var status metav1.Status
	if json.Unmarshal(body, &status) != nil || status.Message == "" {
		return err
	}
	return &apierrors.StatusError{ErrStatus: status}
}

// fillOf returns what a kubelet measured of one claim, false where it measured nothing.
func fillOf(families health.Metrics, namespace, claim string) (health.Fill, bool) {
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
	f := health.Fill{
		Claim: claim, Used: of("used_bytes"), Capacity: of("capacity_bytes"),
		InodesUsed: of("inodes_used"), InodesOf: of("inodes"),
	}
	return f, f.Capacity > 0
}
