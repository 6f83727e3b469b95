// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
)

// TestNothingRestarts changes the policy, and uninstalls and installs the webhook. No pod
// restarts, and the cluster's owner isn't written.
func TestNothingRestarts(t *testing.T) {
	alone(t)
	ns, p := governed(t, nil)
	etcd := sharedDruid(t)
	plain := start(t, ns, "plain", clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true})
	before := lives(t, etcd, plain)
	same := func(what string) {
		t.Helper()
		if diff := cmp.Diff(before, lives(t, etcd, plain)); diff != "" {
			t.Errorf("after %s (-before +after):\n%s", what, diff)
		}
	}
	for _, mode := range []v1alpha1.Mode{v1alpha1.ModeOff, v1alpha1.ModeWarn, v1alpha1.ModeEnforce} {
		setMode(t, p, mode)
		same(fmt.Sprintf("mode %s", mode))
	}
	optOut := v1alpha1.OptOut
	for _, value := range []*string{&optOut, nil} {
		if err := etcd.Annotate(t.Context(), v1alpha1.TopologyPolicyAnnotation, value); err != nil {
			t.Fatal(err)
		}
		same("opting out and in")
	}
	awaitMin(t, etcd, 2, policy.AllReady.Name())
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		// The tests after this one need etcd-webhook.
		if err := install.Install(context.WithoutCancel(t.Context()), bed); err != nil {
			t.Error(err)
		}
	})
	if err := install.Uninstall(t.Context(), bed); err != nil {
		t.Fatal(err)
	}
	same("uninstalling")
	for range 10 {
		if err := etcd.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	same("ten of druid's reconciles without the webhook")
	if err := install.Install(t.Context(), bed); err != nil {
		t.Fatal(err)
	}
	same("installing")
	for range 10 {
		if err := etcd.Reconcile(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	same("ten of druid's reconciles")
	ownersUnwritten(t)
}

func setMode(t *testing.T, p *v1alpha1.EtcdTopologyPolicy, mode v1alpha1.Mode) {
	t.Helper()
	before := p.DeepCopy()
	p.Spec.Mode = mode
	if err := kube.Patch(t.Context(), p, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
}

// lives returns what must not change if nothing restarts.
func lives(t *testing.T, all ...*clusters.Cluster) map[string]clusters.Lives {
	t.Helper()
	seen := map[string]clusters.Lives{}
	for _, c := range all {
		l, err := c.Lives(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		seen[c.String()] = l
	}
	return seen
}

// ownersUnwritten checks that no StatefulSet and no Etcd has a field that etcd-webhook wrote.
func ownersUnwritten(t *testing.T) {
	t.Helper()
	var sets appsv1.StatefulSetList
	if err := kube.List(t.Context(), &sets); err != nil {
		t.Fatal(err)
	}
	if len(sets.Items) == 0 {
		t.Fatal("there is no StatefulSet to check")
	}
	for i := range sets.Items {
		fieldsOf(t, &sets.Items[i])
	}
	etcd, err := sharedDruid(t).Etcd(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	fieldsOf(t, etcd)
}

func fieldsOf(t *testing.T, o client.Object) {
	t.Helper()
	for _, f := range o.GetManagedFields() {
		if strings.Contains(f.Manager, install.Name) {
			t.Errorf("%T %s/%s has fields written by %s: %s", o, o.GetNamespace(), o.GetName(), f.Manager, f.FieldsV1)
		}
	}
}
