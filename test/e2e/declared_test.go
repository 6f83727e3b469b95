// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	policyv1 "k8s.io/api/policy/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestDeclaredBehindLauncher runs etcd behind a launcher that hides it. etcd-webhook and the
// plugin ignore the cluster until the test types the printed command. They ignore it again after
// the user declares that it isn't etcd.
func TestDeclaredBehindLauncher(t *testing.T) {
	operating(t, 3)
	ns, _ := governed(t, func(s *v1alpha1.EtcdTopologyPolicySpec) { s.Disruption.CreateMissing = true })
	c := start(t, ns, "hidden", clusters.Spec{
		Flavour: clusters.Plain, Size: 3, Ephemeral: true, Plain: clusters.PlainSpec{Shell: true}, Mutate: hide,
	})
	noTerms(t, c)
	prints(t, 0, []string{"No etcd clusters found", "--all shows it"}, "list", "-n", ns)
	prints(t, 1, []string{"StatefulSet " + ns + "/hidden may run etcd", "kubectl annotate statefulset hidden -n " + ns}, "status", "statefulset/hidden", "-n", ns)

	typeFirst(t, ns, "  declare: ")
	prints(t, 0, []string{"3 of 3 members ready"}, "status", "statefulset/hidden", "-n", ns)
	budgets := func(want int) {
		eventually(t, "the budget of a declared cluster", func(ctx context.Context) (string, bool, error) {
			var all policyv1.PodDisruptionBudgetList
			err := kube.List(ctx, &all, client.InNamespace(ns))
			return "the number of budgets differs", len(all.Items) == want, err
		})
	}
	budgets(1)

	args := []string{"annotate", "statefulset", "hidden", "-n", ns, v1alpha1.EtcdAnnotation + "=" + v1alpha1.NotEtcd, "--overwrite"}
	if err := clusters.Kubectl(t.Context(), bed, t.Output(), args...); err != nil {
		t.Fatal(err)
	}
	budgets(0)
	prints(t, 0, []string{"No etcd clusters found"}, "list", "-n", ns)
}

// hide changes a StatefulSet to start etcd from a script that composes the program's name. The
// script passes its arguments to etcd as flags.
func hide(s *appsv1.StatefulSet) {
	c := &s.Spec.Template.Spec.Containers[0]
	isNoFlag := func(word string) bool { return !strings.HasPrefix(word, "--") }
	// The kubelet expands the pod's name instead of the shell.
	script := strings.ReplaceAll(c.Args[0], "${POD_NAME}", "$(POD_NAME)")
	flags := slices.DeleteFunc(strings.Fields(script), isNoFlag)
	c.Command = []string{"/bin/sh", "-c", `exec "$(printf /usr/local/bin/etc%s d)" "$@"`, "launch"}
	c.Args = flags
}

// typeFirst runs the first command that list --all prints after the given text.
func typeFirst(t *testing.T, ns, before string) {
	t.Helper()
	stdout, _ := prints(t, 0, []string{before}, "list", "--all", "-n", ns)
	_, rest, _ := strings.Cut(stdout, before)
	line, _, _ := strings.Cut(rest, "\n")
	command := strings.Fields(line)
	if len(command) < 2 || command[0] != "kubectl" {
		t.Fatalf("%q is not a kubectl command", line)
	}
	if err := clusters.Kubectl(t.Context(), bed, t.Output(), command[1:]...); err != nil {
		t.Fatal(err)
	}
}
