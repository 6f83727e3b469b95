// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestUninstallGivesNothingBelowQuorum uninstalls while a budget is managed with an author's
// value below the quorum. Uninstalling doesn't restore this value.
func TestUninstallGivesNothingBelowQuorum(t *testing.T) {
	uninstalled(t)
	ns := namespace(t, "below-quorum")
	one := intstr.FromInt32(1)
	c, err := clusters.Apply(t.Context(), bed, ns, "main", clusters.Spec{
		Flavour: clusters.Plain, Size: 3, Ephemeral: true, Budget: &clusters.Budget{MinAvailable: &one},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.WaitReady(t.Context()); err != nil {
		t.Fatal(err)
	}
	name := kubectl(t, "get", "pdb", "-n", ns, "-o", "jsonpath={.items[*].metadata.name}")
	installed(t)
	if err := admin.Create(t.Context(), &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: ns}}); err != nil {
		t.Fatal(err)
	}
	awaitBudget(t, ns, name, 2)
	_, printed := plugin(t, 0, "webhook", "uninstall", "--all", "-y")
	if want := "to its author's minAvailable=1 (but not below the quorum)"; !strings.Contains(printed, want) {
		t.Errorf("the output lacks %q:\n%s", want, printed)
	}
	var pdb policyv1.PodDisruptionBudget
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: ns, Name: name}, &pdb); err != nil {
		t.Fatal(err)
	}
	if pdb.Spec.MinAvailable.IntValue() != 2 || len(pdb.Annotations) > 0 {
		t.Errorf("minAvailable %s, annotations %v", pdb.Spec.MinAvailable, pdb.Annotations)
	}
}
