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

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
)

// TestAppliedFromARepository applies a budget and a client Service on the server's side, as
// Helm and Flux do, while etcd-webhook keeps the one and client traffic is cut at the
// other: the client gets a warning, and a client that forces its value loosens nothing and sees no drift. Cut
// once more, the same Event comes again.
func TestAppliedFromARepository(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, nil)
	c := start(t, ns, "applied", clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true})
	service := clientService(t, c)
	chart := []map[string]any{
		{
			"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": map[string]any{"name": "applied", "namespace": ns},
			"spec": map[string]any{"minAvailable": 2, "selector": map[string]any{"matchLabels": map[string]any{"app": c.Name}}},
		},
		{
			"apiVersion": "v1", "kind": "Service", "metadata": map[string]any{"name": service.Name, "namespace": ns},
			"spec": map[string]any{"selector": service.Spec.Selector},
		},
	}
	for _, o := range chart {
		if err := apply(t, o, client.ForceOwnership); err != nil {
			t.Fatal(err)
		}
	}
	awaitKept(t, ns, 2)
	cut := func() {
		plugin(t, 0, "cut-client-traffic", c.Full(), "-n", ns, "--for", "1h", "--reason", "a test", "--allow-residual", "-y")
		awaitKept(t, ns, 3)
	}
	cut()

	for i, whose := range []string{"etcd-webhook", "kubectl-etcd"} {
		if err := apply(t, chart[i]); err == nil || !strings.Contains(err.Error(), `conflict with "`+whose+`"`) {
			t.Errorf("applied again, the %s conflicts with no one: %v", chart[i]["kind"], err)
		}
	}
	for _, dry := range []bool{true, false} {
		for _, o := range chart {
			options := []client.PatchOption{client.ForceOwnership}
			if dry {
				options = append(options, client.DryRunAll)
			}
			if err := apply(t, o, options...); err != nil {
				t.Error(err)
			}
		}
		awaitKept(t, ns, 3)
		if clientService(t, c).Spec.Selector[v1alpha1.ClientTrafficKey] == "" {
			t.Fatal("applying the Service ends the cut")
		}
	}

	plugin(t, 0, "restore-client-traffic", c.Full(), "-n", ns, "-y")
	awaitKept(t, ns, 2)
	cut()
	eventually(t, "an Event that comes again to be counted", func(context.Context) (string, bool, error) {
		used, err := install.UsedRights(bed)
		return strings.Join(used, ", "), slices.Contains(used, "patch events.events.k8s.io"), err
	})
}

// apply applies an object as a chart's release does, and holds that what comes back, be it
// of a dry run, is as strict as what is there. A review that came too late for the API
// server, which went on without, is asked for again.
func apply(t *testing.T, o map[string]any, options ...client.PatchOption) (err error) {
	t.Helper()
	body, failed := json.Marshal(o)
	if failed != nil {
		t.Fatal(failed)
	}
	options = append(options, client.FieldOwner("helm"))
	eventually(t, fmt.Sprintf("%s applied to be as strict as what is there", o["kind"]), func(ctx context.Context) (string, bool, error) {
		made, there, ignored := empty(o), empty(o), failedOpen(t)
		if err = kube.Patch(ctx, made, client.RawPatch(types.ApplyPatchType, body), options...); err != nil {
			return "", true, nil //nolint:nilerr // it is the caller's to judge
		}
		if err := kube.Get(ctx, client.ObjectKeyFromObject(made), there); err != nil {
			return "", false, err
		}
		got, want := held(made), held(there)
		if got != want && failedOpen(t) == ignored {
			t.Errorf("%s %s: applied it has %s, and there is %s", o["kind"], made.GetName(), got, want)
			return "", true, nil
		}
		return fmt.Sprintf("applied it has %s, and there is %s: etcd-webhook was too slow", got, want), got == want, nil
	})
	return err
}

// empty is an object of a budget's or a Service's kind and name.
func empty(o map[string]any) client.Object {
	var e client.Object = &policyv1.PodDisruptionBudget{}
	if o["kind"] == "Service" {
		e = &corev1.Service{}
	}
	meta := o["metadata"].(map[string]any)
	e.SetNamespace(meta["namespace"].(string))
	e.SetName(meta["name"].(string))
	return e
}

// held is what of an object others than its author may hold.
func held(o client.Object) string {
	if pdb, is := o.(*policyv1.PodDisruptionBudget); is {
		return pdb.Spec.MinAvailable.String()
	}
	return fmt.Sprint(o.(*corev1.Service).Spec.Selector)
}

// awaitKept waits until the chart's budget is kept at so many members.
func awaitKept(t *testing.T, ns string, want int) {
	t.Helper()
	eventually(t, fmt.Sprintf("budget applied to be kept at %d", want), func(ctx context.Context) (string, bool, error) {
		var pdb policyv1.PodDisruptionBudget
		err := kube.Get(ctx, client.ObjectKey{Namespace: ns, Name: "applied"}, &pdb)
		kept := err == nil && pdb.Annotations[v1alpha1.BudgetForAnnotation] != "" && pdb.Spec.MinAvailable.IntValue() == want
		return fmt.Sprintf("%v, %v", pdb.Spec.MinAvailable, pdb.Annotations), kept, err
	})
}
