// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
)

// TestUninstallChecksLocksFirst uninstalls while another user operates on a cluster with a cut.
// The plugin refuses this before it changes anything.
func TestUninstallChecksLocksFirst(t *testing.T) {
	uninstalled(t)
	ns := namespace(t, "locked")
	installed(t)
	db := owner.Owner{Kind: "StatefulSet", Namespace: ns, Name: "db"}
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: ns, Name: lock.Name(db), Annotations: map[string]string{v1alpha1.ClientTrafficKey: "{}"},
	}}
	create(t, lease)
	held, err := lock.Acquire(t.Context(), admin, db, lock.Claim{Operation: "defrag", Holder: "ann@laptop"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := held.Release(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	_, printed := plugin(t, 2, "webhook", "uninstall", "-y")
	if want := "is locked by ann@laptop"; !strings.Contains(printed, want) {
		t.Errorf("the output lacks %q:\n%s", want, printed)
	}
	if left := kubectl(t, "get", "mutatingwebhookconfiguration", Name, "-o", "name"); left == "" {
		t.Error("the webhook configuration was deleted while the cluster is locked")
	}
}
