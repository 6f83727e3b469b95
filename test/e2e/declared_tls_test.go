// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"slices"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
)

// TestDeclaredBehindLauncherTLS runs etcd with TLS behind a launcher that shows neither the program nor a flag of it. The pods
// are declared, and each setting is unknown. The plugin's flags supply what it needs, and with them each verb reaches the members.
func TestDeclaredBehindLauncherTLS(t *testing.T) {
	operating(t, 1)
	ns := namespace(t)
	c := start(t, ns, "veiled", clusters.Spec{
		Flavour: clusters.Plain, Size: 1, TLS: true, Ephemeral: true, Plain: clusters.PlainSpec{Shell: true}, Mutate: veil,
	})
	typeFirst(t, ns, "  declare: ")
	sts, err := c.StatefulSet(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if sts.Annotations[v1alpha1.EtcdAnnotation] != "etcd" {
		t.Fatalf("the printed command declares %q", sts.Annotations)
	}

	// Without flags the plugin can't know that the member demands a certificate. The message names the flags.
	flags := []string{"--client-port", "--cacert", "--cert", "--key", "--server-name"}
	prints(t, 3, flags, "member", "list", target(c), "-n", ns)
	prints(t, 1, flags, "alarm", "list", target(c), "-n", ns)
	certificates := strings.Fields(clientFiles(t, c))
	for _, given := range [][]string{
		slices.Concat(certificates, []string{"--server-name", "localhost"}),
		slices.Concat(certificates, []string{"--server-name", "localhost", "--client-port", "2379"}),
	} {
		for _, verb := range [][]string{{"status"}, {"member", "list"}, {"alarm", "list"}, {"defrag", "-y"}} {
			plugin(t, 0, slices.Concat(verb, []string{target(c), "-n", ns}, given)...)
		}
	}
	// check claims nothing of what only the launcher knows, such as that clients connect without TLS.
	r := startPlugin(t, slices.Concat([]string{"check", target(c), "-n", ns, skipHostChecks}, certificates, []string{"--server-name", "localhost"})...)
	r.wait(t)
	if printed := r.stdout.String() + r.stderr.String(); strings.Contains(printed, "connect without TLS") || !strings.Contains(printed, "only known in the pod") {
		t.Errorf("check claims to know the settings: %s", printed)
	}
}

// veil changes a StatefulSet to start etcd from a script that composes the program's name. The flags stand in the script, behind
// a program that is not known.
func veil(s *appsv1.StatefulSet) {
	c := &s.Spec.Template.Spec.Containers[0]
	c.Args[0] = strings.Replace(c.Args[0], "exec /usr/local/bin/etcd", `exec "$(printf /usr/local/bin/etc%s d)"`, 1)
}
