// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"strings"
	"testing"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"github.com/gardener/etcd-druid/api/core/v1alpha1/crds"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestUninstallLetsDruidGoOn cuts client traffic before etcd-webhook runs, so that the plugin
// suspends etcd-druid for an Etcd. Uninstalling ends this suspension. An Etcd that another user
// suspended stays suspended.
func TestUninstallLetsDruidGoOn(t *testing.T) {
	uninstalled(t)
	ns := namespace(t, "suspended")
	definitions, err := crds.GetAll("1.37")
	if err != nil {
		t.Fatal(err)
	}
	definition := definitions[crds.ResourceNameEtcd]
	if _, err := admin.kubectl(t.Context(), []byte(definition), "apply", "--server-side", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.kubectl(context.WithoutCancel(t.Context()), nil, "delete", "crd", crds.ResourceNameEtcd); err != nil {
			t.Error(err)
		}
	})
	kubectl(t, "wait", "--for", "condition=Established", "crd/"+crds.ResourceNameEtcd)
	const suspend = druidv1alpha1.SuspendEtcdSpecReconcileAnnotation
	for name, by := range map[string]string{"cut": v1alpha1.ClientTrafficKey, "theirs": "true"} {
		create(t, &druidv1alpha1.Etcd{
			ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: name, Annotations: map[string]string{suspend: by}},
			Spec:       druidv1alpha1.EtcdSpec{Labels: map[string]string{"app": name}},
		})
	}
	_, printed := plugin(t, 0, "webhook", "uninstall", "--all", "-y")
	if want := "etcd-druid reconciles etcd/cut in namespace " + ns + " again"; !strings.Contains(printed, want) {
		t.Errorf("the output lacks %q:\n%s", want, printed)
	}
	var all druidv1alpha1.EtcdList
	if err := admin.List(t.Context(), &all, client.InNamespace(ns)); err != nil || len(all.Items) != 2 {
		t.Fatalf("%d Etcds: %v", len(all.Items), err)
	}
	for i := range all.Items {
		by, suspended := all.Items[i].Annotations[suspend]
		if suspended != (all.Items[i].Name == "theirs") {
			t.Errorf("Etcd %s: suspended %v, by %q", all.Items[i].Name, suspended, by)
		}
	}
}
