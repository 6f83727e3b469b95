// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/test/clusters"
	"github.com/kubectl-etcd/kubectl-etcd/test/install"
)

// TestClientTrafficOfDruid cuts the client traffic of an Etcd, although druid writes the Service
// again. It does so with etcd-webhook and without it.
func TestClientTrafficOfDruid(t *testing.T) {
	alone(t)
	c := sharedDruid(t)
	before := clientService(t, c)
	dialer := clientPod(t, c)

	report, _ := cutTraffic(t, c, 0, "10m") // druid's own watch doesn't count as a client's
	if report.RestoredBy != "etcd-webhook" {
		t.Errorf("restored by %q", report.RestoredBy)
	}
	if err := c.Reconcile(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := cutUntil(t, c); !got.Equal(report.Until.Time) {
		t.Errorf("after druid's reconciliation, the traffic is cut until %s, want %s", got, report.Until)
	}
	dialer.reaches(t, false)
	works(t, c) // the members must serve while client traffic is cut
	awaitMin(t, c, 3, policy.ClientTrafficCut.Name())
	whileCut(t, c, "5")
	sameAgain(t, c, before)
	dialer.reaches(t, true)

	withoutWebhook(t)
	restoresByItself(t, c, dialer)
	unchanged(t, c, before)
	restoresOnInterrupt(t, c)
	unchanged(t, c, before)
	detached(t, c)
	sameAgain(t, c, before)
	reconciled(t, c)
}

// restoresByItself cuts while etcd-webhook is away, so that the plugin must restore the traffic.
func restoresByItself(t *testing.T, c *clusters.Cluster, dialer pod) {
	t.Helper()
	for length := 20 * time.Second; !cutFor(t, c, dialer, length); length *= 2 {
		if length > limit/2 {
			t.Fatal("a client reaches the members while its traffic is cut")
		}
	}
	reconciled(t, c)
}

// cutFor cuts for this duration. It reports whether that was long enough to observe on this
// machine that a client reaches no member.
func cutFor(t *testing.T, c *clusters.Cluster, dialer pod, length time.Duration) (seen bool) {
	t.Helper()
	r := startPlugin(t, "cut-client-traffic", c.Name, "-n", c.Namespace, "--for", length.String(), "--reason", "a test", "-y")
	ended := make(chan int, 1)
	go func() { ended <- r.wait(t) }()
	for asked := false; ; {
		select {
		case code := <-ended:
			printed := r.stderr.String()
			if code != 0 || asked && (!strings.Contains(printed, "If it is killed, nothing does") || !strings.Contains(printed, "suspend etcd-druid")) {
				t.Errorf("exit code %d, and the plugin doesn't print what will happen: %s", code, printed)
			}
			return seen
		case <-time.After(200 * time.Millisecond):
		}
		if !asked && strings.Contains(r.stderr.String(), "Staying until") {
			asked = true
			value := druidv1alpha1.DruidOperationReconcile
			if err := c.Annotate(t.Context(), druidv1alpha1.DruidOperationAnnotation, &value); err != nil {
				t.Fatal(err)
			}
		}
		if asked && !seen {
			out, err := dialer.call(t.Context())
			seen = err != nil && !strings.Contains(out, "etcdserver")
		}
	}
}

// restoresOnInterrupt ends a cut with Ctrl-C, as users do.
func restoresOnInterrupt(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	r := startPlugin(t, "cut-client-traffic", c.Name, "-n", c.Namespace, "--for", "10m", "--reason", "a test", "-y")
	r.awaitOutput(t, "Staying until")
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := r.wait(t); code != 130 {
		t.Errorf("exit code %d: %s", code, &r.stderr)
	}
	reconciled(t, c)
}

// detached leaves the cut in place, and checks that the plugin reports this. Another user's
// suspension of druid stays.
func detached(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	theirs := "maintenance"
	if err := c.Annotate(t.Context(), druidv1alpha1.SuspendEtcdSpecReconcileAnnotation, &theirs); err != nil {
		t.Fatal(err)
	}
	report, texts := cutTraffic(t, c, 0, "1s", "--detach")
	if report.RestoredBy != "nothing" || !strings.Contains(texts, "NOTHING restores it") {
		t.Errorf("restored by %q: %s", report.RestoredBy, texts)
	}
	cutUntil(t, c) // the cut remains although its duration has passed
	prints(t, 0, []string{"cut"}, "list", "-n", c.Namespace)
	refuses(t, []string{"client traffic is cut"}, "member", "replace", "etcd/"+c.Name, c.Full()+"-1", "--force", "-n", c.Namespace, "-y")
	plugin(t, 0, "restore-client-traffic", c.Name, "-n", c.Namespace, "-y")
	etcd, err := c.Etcd(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := etcd.Annotations[druidv1alpha1.SuspendEtcdSpecReconcileAnnotation]; got != theirs {
		t.Errorf("another user's suspension of druid is %q, want %q", got, theirs)
	}
	if err := c.Annotate(t.Context(), druidv1alpha1.SuspendEtcdSpecReconcileAnnotation, nil); err != nil {
		t.Fatal(err)
	}
}

// reconciled checks that druid manages the Etcd again.
func reconciled(t *testing.T, c *clusters.Cluster) {
	t.Helper()
	etcd, err := c.Etcd(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if value, has := etcd.Annotations[druidv1alpha1.SuspendEtcdSpecReconcileAnnotation]; has {
		t.Errorf("druid is still suspended by %q", value)
	}
	if _, cut := clientService(t, c).Spec.Selector[v1alpha1.ClientTrafficKey]; cut {
		t.Error("client traffic is still cut")
	}
}

// withoutWebhook scales etcd-webhook to zero until the test ends.
func withoutWebhook(t *testing.T) {
	t.Helper()
	scaleWebhook(t.Context(), t, 0)
	t.Cleanup(func() { scaleWebhook(context.WithoutCancel(t.Context()), t, 2) })
}

func scaleWebhook(ctx context.Context, t *testing.T, replicas int32) {
	t.Helper()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: install.Namespace, Name: install.Name}}
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
	if err := kube.Patch(ctx, d, patch); err != nil {
		t.Fatal(err)
	}
	err := clusters.Await(ctx, limit, fmt.Sprintf("%d replicas of etcd-webhook", replicas), func(ctx context.Context) (string, bool, error) {
		err := kube.Get(ctx, client.ObjectKeyFromObject(d), d)
		s := d.Status
		return fmt.Sprintf("%+v", s), s.ObservedGeneration == d.Generation && s.Replicas == replicas && s.ReadyReplicas == replicas &&
			(s.TerminatingReplicas == nil || *s.TerminatingReplicas == 0), err
	})
	if err != nil {
		t.Fatal(err)
	}
}
