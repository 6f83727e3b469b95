// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/images"
	"github.com/kubectl-etcd/kubectl-etcd/test/programs"
)

// TestDeadWebhookCostsOthersNothing writes many kinds of objects while etcd-webhook doesn't
// respond, in three ways. The API server doesn't call etcd-webhook for objects of other
// applications, and etcd members start.
func TestDeadWebhookCostsOthersNothing(t *testing.T) {
	installed(t)
	ns := namespace(t, "others")
	kubectl(t, "apply", "-n", ns, "-f", "testdata/budget.yaml")
	pod := member(t)
	var etcd *clusters.Cluster

	kubectl(t, "scale", "deployment", Name, "-n", Namespace, "--replicas", "0")
	awaitPods(t, 0)
	t.Run("no replica", func(t *testing.T) {
		notAsked(t, ns)
		admittedAnyway(t, pod)
		var err error
		if etcd, err = clusters.Apply(t.Context(), bed, ns, "etcd", clusters.Spec{Flavour: clusters.Plain, Size: 3, Ephemeral: true}); err != nil {
			t.Fatal(err)
		}
		if err := etcd.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("a replica that never answers", func(t *testing.T) {
		tarpit(t)
		notAsked(t, ns)
		admittedAnyway(t, pod)
		kubectl(t, "delete", "pods", "-n", ns, "-l", "app=etcd", "--grace-period", "0", "--force")
		if err := etcd.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	installed(t)
	t.Run("a cold start of everything", func(t *testing.T) {
		coldStart(t, ns)
		if err := etcd.WaitReady(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	rolledOut(t)
}

// notAsked writes objects of other applications, and checks that the API server didn't call
// etcd-webhook.
func notAsked(t *testing.T, ns string) {
	t.Helper()
	before := counts(t, Calls)
	kubectl(t, "apply", "-n", ns, "-f", "testdata/others.yaml")
	kubectl(t, "annotate", "-n", ns, "-f", "testdata/others.yaml", "-f", "testdata/budget.yaml", "--overwrite", "seen="+t.Name())
	kubectl(t, "create", "-n", "kube-system", "-f", "testdata/budget.yaml", "--dry-run=server")
	kubectl(t, "annotate", "nodes", "--all", "--overwrite", "seen=yes", "--dry-run=server")
	kubectl(t, "delete", "-n", ns, "-f", "testdata/others.yaml", "--grace-period", "0", "--force")
	if after := counts(t, Calls); after != before {
		t.Errorf("etcd-webhook was called for objects of other applications: calls\n%swant\n%s", after, before)
	}
}

// admittedAnyway creates a member's pod, which the API server admits although etcd-webhook
// doesn't respond.
func admittedAnyway(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	before, pod := counts(t, FailedOpen), pod.DeepCopy()
	if err := admin.Create(t.Context(), pod, client.DryRunAll); err != nil {
		t.Fatal(err)
	}
	if pod.Annotations[v1alpha1.SpreadAnnotation] != "" {
		t.Error("the pod was reviewed although etcd-webhook is away")
	}
	if after := counts(t, FailedOpen); after == before {
		t.Error("the API server doesn't count failed calls, so this test can't detect them")
	}
}

// counts returns the current value of an API server's counter for etcd-webhook.
func counts(tb testing.TB, counter string) string {
	tb.Helper()
	now, err := Counts(tb.Context(), bed, counter)
	if err != nil {
		tb.Fatal(err)
	}
	return now
}

// tarpit replaces the replicas with a server that accepts connections and never responds, until
// the test ends.
func tarpit(t *testing.T) {
	t.Helper()
	if err := images.Push(t.Context(), programs.Cache{}, bed.Registry(), []string{images.Alpine}, io.Discard); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/tarpit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	text = []byte(strings.Replace(string(text), "IMAGE", images.Alpine, 1))
	if _, err := admin.kubectl(t.Context(), text, "apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = admin.kubectl(context.WithoutCancel(t.Context()), text, "delete", "-f", "-")
		_, err := admin.kubectl(context.WithoutCancel(t.Context()), nil, "patch", "service", Name, "-n", Namespace, "--type", "merge", "-p",
			`{"spec":{"selector":{"app":null,"app.kubernetes.io/name":"`+Name+`"}}}`)
		if err != nil {
			t.Error(err)
		}
	})
	kubectl(t, "wait", "--for", "condition=Ready", "pod/tarpit", "-n", Namespace, "--timeout", limit.String())
	kubectl(t, "patch", "service", Name, "-n", Namespace, "--type", "merge", "-p",
		`{"spec":{"selector":{"app":"tarpit","app.kubernetes.io/name":null}}}`)
	eventually(t, "the tarpit to be an endpoint", func(ctx context.Context) (string, bool, error) {
		out, err := admin.kubectl(ctx, nil, "get", "endpointslices", "-n", Namespace, "-o", "jsonpath={.items[*].endpoints[*].targetRef.name}")
		return string(out), strings.Contains(string(out), "tarpit"), err
	})
}

// controlPlane lists the programs of the control plane without the API server. etcd is the
// first.
var controlPlane = []string{"etcd", "kube-controller-manager", "kube-scheduler"}

// coldStart stops everything, and starts the control plane first. Meanwhile the API server
// doesn't call etcd-webhook for objects of other applications, and members' pods are created
// again.
func coldStart(t *testing.T, ns string) {
	t.Helper()
	for _, n := range bed.Nodes() {
		if err := bed.KillNode(t.Context(), n.Name); err != nil {
			t.Fatal(err)
		}
	}
	if err := bed.StopAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, program := range controlPlane {
		if err := bed.KillProcess(t.Context(), program); err != nil {
			t.Fatal(err)
		}
	}
	for _, program := range controlPlane {
		if err := bed.StartProcess(t.Context(), program); err != nil {
			t.Fatal(err)
		}
	}
	if err := bed.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	notAsked(t, ns)
	kubectl(t, "delete", "pods", "-n", ns, "-l", "app=etcd", "--grace-period", "0", "--force")
	for _, n := range bed.Nodes() {
		if err := bed.StartNode(t.Context(), n.Name); err != nil {
			t.Fatal(err)
		}
	}
}

// awaitPods waits until this many pods of etcd-webhook exist.
func awaitPods(tb testing.TB, want int) {
	tb.Helper()
	eventually(tb, fmt.Sprintf("%d pods of %s", want, Name), func(ctx context.Context) (string, bool, error) {
		var pods corev1.PodList
		err := admin.List(ctx, &pods, client.InNamespace(Namespace), client.MatchingLabels{"app.kubernetes.io/name": Name})
		return fmt.Sprintf("%d", len(pods.Items)), len(pods.Items) == want, err
	})
}
