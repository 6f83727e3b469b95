// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"fmt"
	"slices"

	discoveryv1 "k8s.io/api/discovery/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// ReadyEndpoints returns the addresses that a Service leads to now, with the pod's name if
// the EndpointSlice has it: "etcd-0 (10.244.1.3)".
func ReadyEndpoints(ctx context.Context, kube client.Reader, service client.ObjectKey) ([]string, error) {
	var slice discoveryv1.EndpointSliceList
	err := kube.List(ctx, &slice, client.InNamespace(service.Namespace), client.MatchingLabels{discoveryv1.LabelServiceName: service.Name})
	if err != nil {
		return nil, fmt.Errorf("list EndpointSlices of Service %s: %w", service.Name, err)
	}
	var out []string
	for i := range slice.Items {
		for _, e := range slice.Items[i].Endpoints {
			// Absent means ready, by the API.
			if ready := e.Conditions.Ready; ready != nil && !*ready {
				continue
			}
			for _, address := range e.Addresses {
				if e.TargetRef != nil {
					address = fmt.Sprintf("%s (%s)", e.TargetRef.Name, address)
				}
				out = append(out, address)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}
