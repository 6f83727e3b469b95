// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/webhook/entries"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// TestWebhookStatus checks an installation in many states with webhook status.
func TestWebhookStatus(t *testing.T) {
	installed(t)
	ns := namespace(t, "status")

	t.Run("without a policy it answers", func(t *testing.T) { answersWithoutPolicy(t, ns) })
	t.Run("with one, a member's pod comes back spread", func(t *testing.T) { answersWithPolicy(t, ns) })
	t.Run("its rights are gone", func(t *testing.T) { withoutRights(t, ns) })
	t.Run("another user deletes webhooks", func(t *testing.T) { withoutEntries(t, ns) })
	t.Run("no replica can lead", func(t *testing.T) { withoutLeader(t, ns) })
	t.Run("an authority that didn't sign", func(t *testing.T) {
		wrongAuthority(t)
		awaitStatus(t, 3, func(st *output.WebhookStatus) bool { return problem(st, "WebhookUntrusted") != "" }, "-n", ns)
	})
	t.Run("no replica", func(t *testing.T) {
		scaled(t, 0)
		awaitStatus(t, 3, func(st *output.WebhookStatus) bool {
			return problem(st, "WebhookNoReplica") != "" && problem(st, "WebhookNotCalled") != ""
		}, "-n", ns)
	})
	t.Run("someone who may see nothing", func(t *testing.T) {
		st := webhookStatus(t, 3, "--as", "eve", "-n", ns)
		if st.Health != output.Unknown || len(st.Unseen) < 5 {
			t.Errorf("health %s, unseen %+v", st.Health, st.Unseen)
		}
	})
	t.Run("it is back", func(t *testing.T) {
		awaitStatus(t, 0, func(st *output.WebhookStatus) bool { return st.Admission.Answered }, "-n", ns)
	})
}

func answersWithoutPolicy(t *testing.T, ns string) {
	t.Helper()
	st := awaitStatus(t, 0, func(st *output.WebhookStatus) bool {
		return st.Admission.Answered && st.Program.Ready == 2 && st.Program.Leader != "" && st.Webhooks[0].Calls != nil
	}, "-n", ns)
	a := st.Admission
	if a.Error != "" || a.Outcome != "Ignored" || !strings.Contains(a.Asked, "namespace "+ns) {
		t.Errorf("answer: %+v", a)
	}
	if a.Version == "" || st.Program.Version != a.Version {
		t.Errorf("the responding replica has version %q, the program %q", a.Version, st.Program.Version)
	}
	if len(st.Program.Replicas) != 2 || st.Program.Replicas[0].Zone == "" {
		t.Errorf("program: %+v", st.Program)
	}
	if len(st.Webhooks) != allEntries() || st.Webhooks[0].ObjectSelector == "" || len(st.Webhooks[0].MatchConditions) != 2 || len(st.Unseen) > 0 {
		t.Errorf("webhooks: %+v, unseen: %+v", st.Webhooks, st.Unseen)
	}
	allTrusted(t, st)
}

// allEntries returns how many webhooks the handlers have.
func allEntries() int {
	n := 0
	for _, h := range entries.Handlers {
		n += len(h.Entries)
	}
	return n
}

func allTrusted(t *testing.T, st *output.WebhookStatus) {
	t.Helper()
	for _, r := range st.Program.Replicas {
		if r.Certificate == nil || len(r.Certificate.Distrusted) > 0 {
			t.Errorf("certificate of %s: %+v", r.Pod, r)
		}
	}
}

func answersWithPolicy(t *testing.T, ns string) {
	t.Helper()
	governed(t, ns)
	eventually(t, "a trial pod with the policy's terms", func(context.Context) (string, bool, error) {
		a := webhookStatus(t, 0, "-n", ns).Admission
		printed, err := json.Marshal(a)
		return string(printed), a.Answered && a.Outcome == "Patched" && a.Policy == ns && len(a.Added) > 0, err
	})
	if pods := kubectl(t, "get", "pods", "-n", ns, "-o", "name"); pods != "" {
		t.Errorf("the trial pod still exists: %s", pods)
	}
	out, _ := plugin(t, 0, "webhook", "status", "-n", ns)
	t.Log(out)
	other := namespace(t, "status-other")
	if a := webhookStatus(t, 0, "-n", other).Admission; !a.Answered || !strings.Contains(a.Asked, " in namespace "+other+",") {
		t.Errorf("for namespace %s the trial is in %q: %+v", other, a.Asked, a)
	}
}

// withoutRights deletes the binding of the program's ClusterRole. The program still responds.
func withoutRights(t *testing.T, ns string) {
	t.Helper()
	kubectl(t, "delete", "clusterrolebinding", Name)
	awaitStatus(t, 3, func(st *output.WebhookStatus) bool {
		return strings.Contains(problem(st, "WebhookLacksRights"), `verb "patch" on "poddisruptionbudgets.policy" in the whole cluster`)
	}, "-n", ns)
	well(t, ns)
}

// withoutEntries deletes a webhook that doesn't affect spreading, and then the webhook for pods.
func withoutEntries(t *testing.T, ns string) {
	t.Helper()
	drop := func(i string) {
		kubectl(t, "patch", "mutatingwebhookconfiguration", Name, "--type", "json", "-p", `[{"op":"remove","path":"/webhooks/`+i+`"}]`)
	}
	drop("3")
	awaitStatus(t, 0, func(st *output.WebhookStatus) bool {
		return st.Health == output.Degraded && strings.Contains(problem(st, "WebhookEntryMissing"), "mutatingwebhookconfiguration/etcd-webhook lacks 1 of its ") &&
			strings.Contains(problem(st, "WebhookEntryMissing"), " webhooks: services.")
	}, "-n", ns)
	drop("0")
	awaitStatus(t, 3, func(st *output.WebhookStatus) bool {
		return st.Health == output.Down && strings.Contains(problem(st, "WebhookEntryMissing"), "members aren't spread")
	}, "-n", ns)
	well(t, ns)
}

// withoutLeader removes the permission for the Lease from all replicas. The leader restarts its
// process without the kubelet, because the kubelet would delay the restart.
func withoutLeader(t *testing.T, ns string) {
	t.Helper()
	before := awaitStatus(t, 0, func(st *output.WebhookStatus) bool { return st.Program.Ready == 2 && st.Program.Leader != "" }, "-n", ns)
	kubectl(t, "delete", "rolebinding", "etcd-webhook-leader-election", "-n", Namespace)
	awaitStatus(t, 3, func(st *output.WebhookStatus) bool {
		return st.Program.Leader == "" && problem(st, "WebhookLeaderless") != "" && problem(st, "WebhookLacksRights") != ""
	}, "-n", ns)
	well(t, ns)
	after := awaitStatus(t, 0, func(st *output.WebhookStatus) bool { return st.Program.Ready == 2 }, "-n", ns)
	for i, r := range before.Program.Replicas {
		if now := after.Program.Replicas[i]; now.Pod != r.Pod || now.Restarts != r.Restarts {
			t.Errorf("the kubelet started a replica again: %+v, before %+v", now, r)
		}
	}
	if log := kubectl(t, "logs", before.Program.Leader, "-n", Namespace); !strings.Contains(log, "this replica has lost the leader's lease") {
		t.Errorf("%s did not restart:\n%s", before.Program.Leader, log)
	}
}

// well applies the manifests again, as the status advises, and waits until everything is
// healthy.
func well(t *testing.T, ns string) {
	t.Helper()
	installed(t)
	awaitStatus(t, 0, func(st *output.WebhookStatus) bool {
		return st.Health == output.Healthy && st.Program.Leader != ""
	}, "-n", ns)
}

// webhookStatus runs the command and requires its exit code.
func webhookStatus(t *testing.T, code int, flags ...string) *output.WebhookStatus {
	t.Helper()
	out, _ := plugin(t, code, append([]string{"webhook", "status", "-o", "json"}, flags...)...)
	var st output.WebhookStatus
	if err := json.Unmarshal([]byte(out), &st); err != nil {
		t.Fatal(err)
	}
	return &st
}

// awaitStatus repeats the command until its status is as wanted. A change of the installation
// takes a moment to be visible everywhere.
func awaitStatus(t *testing.T, code int, wanted func(*output.WebhookStatus) bool, flags ...string) (st *output.WebhookStatus) {
	t.Helper()
	eventually(t, "the status of etcd-webhook", func(context.Context) (string, bool, error) {
		st = webhookStatus(t, code, flags...)
		printed, err := json.Marshal(st)
		return string(printed), wanted(st), err
	})
	return st
}

func problem(st *output.WebhookStatus, reason string) string {
	for _, p := range st.Problems {
		if p.Reason == reason {
			return p.Message
		}
	}
	return ""
}

// governed creates a StatefulSet of etcd without pods in a namespace, and a policy for it with
// the namespace's name.
func governed(t *testing.T, ns string) {
	t.Helper()
	p := &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: ns}}
	p.Spec.NamespaceSelector = &v1alpha1.Selector{MatchLabels: map[string]v1alpha1.LabelValue{corev1.LabelMetadataName: v1alpha1.LabelValue(ns)}}
	create(t, p)
	labels := map[string]string{"app": "main"}
	three := int32(3)
	create(t, &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: ns, Name: "main"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &three, Selector: &metav1.LabelSelector{MatchLabels: labels}, ServiceName: "main",
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				// The service account doesn't exist, so no pod is created.
				Spec: corev1.PodSpec{ServiceAccountName: "missing", Containers: []corev1.Container{{Name: "etcd", Image: "etcd", Command: []string{"etcd"}}}},
			},
		},
	})
}

// wrongAuthority registers another webhook for pods until the test ends. Its authority didn't
// sign the served certificate. The controller would repair the existing registration at once.
func wrongAuthority(t *testing.T) {
	t.Helper()
	var cm corev1.ConfigMap
	if err := admin.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "kube-root-ca.crt"}, &cm); err != nil {
		t.Fatal(err)
	}
	var c admissionregistrationv1.MutatingWebhookConfiguration
	if err := admin.Get(t.Context(), client.ObjectKey{Name: Name}, &c); err != nil {
		t.Fatal(err)
	}
	again := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: Name + "-again"}}
	again.Webhooks = c.Webhooks[:1]
	again.Webhooks[0].ClientConfig.CABundle = []byte(cm.Data["ca.crt"])
	create(t, again)
}

// scaled changes the number of replicas until the test ends.
func scaled(t *testing.T, replicas int) {
	t.Helper()
	set := func(ctx context.Context, n int32) {
		d := &appsv1.Deployment{}
		if err := admin.Get(ctx, client.ObjectKey{Namespace: Namespace, Name: Name}, d); err != nil {
			t.Fatal(err)
		}
		was := d.DeepCopy()
		d.Spec.Replicas = &n
		if err := admin.Patch(ctx, d, client.MergeFrom(was)); err != nil {
			t.Fatal(err)
		}
	}
	set(t.Context(), int32(replicas))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		set(ctx, 2)
		if _, err := admin.kubectl(ctx, nil, "rollout", "status", "deployment/"+Name, "--namespace", Namespace, "--timeout", limit.String()); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the webhook's pods to be gone", func(ctx context.Context) (string, bool, error) {
		var pods corev1.PodList
		err := admin.List(ctx, &pods, client.InNamespace(Namespace), client.MatchingLabels{"app.kubernetes.io/name": Name})
		return describeList(len(pods.Items)), len(pods.Items) == replicas, err
	})
}

func describeList(n int) string { return strings.Repeat("pod ", n) }
