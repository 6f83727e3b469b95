// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"slices"
	"testing"

	"k8s.io/cli-runtime/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
)

// TestDeletionIsReviewed checks that kubectl delete -k, which deletes in the order of kubectl apply -k,
// first deletes an object whose deletion etcd-webhook reviews, and only then what etcd-webhook needs to
// release rollouts.
func TestDeletionIsReviewed(t *testing.T) {
	t.Parallel()
	for _, overlay := range []string{"overlays/self-signed", "overlays/cert-manager"} {
		first := -1
		var order []string
		err := resource.NewLocalBuilder().Unstructured().
			FilenameParam(false, &resource.FilenameOptions{Kustomize: overlay}).Flatten().Do().
			Visit(func(info *resource.Info, err error) error {
				if err != nil {
					return err
				}
				kind := info.Object.GetObjectKind().GroupVersionKind().Kind
				resources := map[string]string{"CustomResourceDefinition": entries.Definitions, "ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings"}
				if first < 0 && entries.Uninstalls(resources[kind], info.Object.(client.Object).GetName()) {
					first = len(order)
				}
				order = append(order, kind)
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		for _, needed := range []string{"ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Service", "Deployment", "MutatingWebhookConfiguration"} {
			if at := slices.Index(order, needed); first < 0 || at <= first {
				t.Errorf("%s: the %s goes before the first deletion that is reviewed: %v", overlay, needed, order)
			}
		}
	}
}
