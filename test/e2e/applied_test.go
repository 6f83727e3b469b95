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

// TestAppliedFromARepository applies a budget and a client Service by server-side apply, as Helm
// and Flux do. Meanwhile etcd-webhook manages the budget, and client traffic is cut at the
// Service. The client gets a conflict. If it forces its value, the budget and the cut stay, and
// the client sees no drift. When the traffic is cut again, the API server counts the Event
// again.
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
	awaitManaged(t, ns, 2)
	cut := func() {
		plugin(t, 0, "cut-client-traffic", c.Full(), "-n", ns, "--for", "1h", "--reason", "a test", "--allow-residual", "-y")
		awaitManaged(t, ns, 3)
	}
	cut()

	for i, manager := range []string{"etcd-webhook", "kubectl-etcd"} {
		if err := apply(t, chart[i]); err == nil || !strings.Contains(err.Error(), `conflict with "`+manager+`"`) {
			t.Errorf("apply of the %s without force: %v, want a conflict", chart[i]["kind"], err)
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
		awaitManaged(t, ns, 3)
		if clientService(t, c).Spec.Selector[v1alpha1.ClientTrafficKey] == "" {
			t.Fatal("applying the Service ended the cut")
		}
	}

	plugin(t, 0, "restore-client-traffic", c.Full(), "-n", ns, "-y")
	awaitManaged(t, ns, 2)
	cut()
	eventually(t, "the count of a repeated Event", func(context.Context) (string, bool, error) {
		used, err := install.UsedRights(bed)
		return strings.Join(used, ", "), slices.Contains(used, "patch events.events.k8s.io"), err
	})
}

// apply applies an object as the release of a chart does. It checks that the API server's
// response is as strict as the stored object, also for a dry run. If etcd-webhook was too slow
// and the API server went on without the review, apply tries again.
func apply(t *testing.T, o map[string]any, options ...client.PatchOption) (err error) {
	t.Helper()
	body, failed := json.Marshal(o)
	if failed != nil {
		t.Fatal(failed)
	}
	options = append(options, client.FieldOwner("helm"))
	eventually(t, fmt.Sprintf("an applied %s that is as strict as the stored one", o["kind"]), func(ctx context.Context) (string, bool, error) {
		made, there, ignored := empty(o), empty(o), failedOpen(t)
		if err = kube.Patch(ctx, made, client.RawPatch(types.ApplyPatchType, body), options...); err != nil {
			return "", true, nil //nolint:nilerr // the caller judges the error
		}
		if err := kube.Get(ctx, client.ObjectKeyFromObject(made), there); err != nil {
			return "", false, err
		}
		got, want := managedField(made), managedField(there)
		if got != want && failedOpen(t) == ignored {
			t.Errorf("%s %s: apply returned %s, but the stored object has %s", o["kind"], made.GetName(), got, want)
			return "", true, nil
		}
		return fmt.Sprintf("apply returned %s, but the stored object has %s: etcd-webhook was too slow", got, want), got == want, nil
	})
	return err
}

// empty returns an empty object with the kind and the name of a budget or Service.
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

// managedField returns the part of an object that etcd-webhook or the plugin manages.
func managedField(o client.Object) string {
	if pdb, is := o.(*policyv1.PodDisruptionBudget); is {
		return pdb.Spec.MinAvailable.String()
	}
	return fmt.Sprint(o.(*corev1.Service).Spec.Selector)
}

// awaitManaged waits until etcd-webhook manages the chart's budget with this minAvailable.
func awaitManaged(t *testing.T, ns string, want int) {
	t.Helper()
	eventually(t, fmt.Sprintf("minAvailable %d of the managed budget", want), func(ctx context.Context) (string, bool, error) {
		var pdb policyv1.PodDisruptionBudget
		err := kube.Get(ctx, client.ObjectKey{Namespace: ns, Name: "applied"}, &pdb)
		kept := err == nil && pdb.Annotations[v1alpha1.BudgetForAnnotation] != "" && pdb.Spec.MinAvailable.IntValue() == want
		return fmt.Sprintf("%v, %v", pdb.Spec.MinAvailable, pdb.Annotations), kept, err
	})
}
