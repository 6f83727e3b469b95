// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package manifests

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// TestWebhooksAreOptional checks that a cluster doesn't depend on etcd-webhook: nothing waits
// long for it or fails without it, and it isn't called for its own objects.
func TestWebhooksAreOptional(t *testing.T) {
	t.Parallel()
	var config admissionregistrationv1.MutatingWebhookConfiguration
	readBase(t, "webhooks.yaml", &config)
	otherNamespaces := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpNotIn, Values: []string{"kube-system", "kubectl-etcd-system"},
	}}}
	for _, w := range config.Webhooks {
		kind := w.Rules[0].Resources[0]
		for property, holds := range map[string]bool{
			"the API server waits at most 3 seconds": ptr.Deref(w.TimeoutSeconds, 10) <= 3,
			"it fails open":                          ptr.Deref(w.FailurePolicy, "") == admissionregistrationv1.Ignore,
			"it is called in dry runs": slices.Contains([]admissionregistrationv1.SideEffectClass{
				admissionregistrationv1.SideEffectClassNone, admissionregistrationv1.SideEffectClassNoneOnDryRun,
			}, ptr.Deref(w.SideEffects, "")),
			"it is called for other versions":                                     ptr.Deref(w.MatchPolicy, "") == admissionregistrationv1.Equivalent,
			"it is called for few objects (matchConditions or an objectSelector)": len(w.MatchConditions) > 0 || w.ObjectSelector != nil || kind == "etcds" || kind == "pods/eviction",
		} {
			if !holds {
				t.Errorf("%s in manifests/base/webhooks.yaml: not true that %s", w.Name, property)
			}
		}
		if diff := cmp.Diff(otherNamespaces, w.NamespaceSelector); diff != "" {
			t.Errorf("%s: namespaces (-want +got):\n%s", w.Name, diff)
		}
		for _, r := range w.Rules {
			if len(r.Resources) != 1 || slices.Contains(r.Operations, admissionregistrationv1.OperationAll) {
				t.Errorf("%s: rule %v", w.Name, r)
			}
		}
	}
}

// TestReplicasAreConfined checks restrictions that Pod Security doesn't require.
func TestReplicasAreConfined(t *testing.T) {
	t.Parallel()
	var deployment appsv1.Deployment
	readBase(t, "deployment.yaml", &deployment)
	spec := deployment.Spec.Template.Spec
	if spec.PriorityClassName == "" || spec.ServiceAccountName == "" || spec.HostNetwork {
		t.Errorf("%+v", spec)
	}
	for _, c := range slices.Concat(spec.InitContainers, spec.Containers) {
		if !ptr.Deref(c.SecurityContext.ReadOnlyRootFilesystem, false) {
			t.Errorf("%s: its root file system is writable", c.Name)
		}
		if slices.ContainsFunc([]*resource.Quantity{c.Resources.Requests.Cpu(), c.Resources.Requests.Memory(), c.Resources.Limits.Cpu(), c.Resources.Limits.Memory()}, (*resource.Quantity).IsZero) {
			t.Errorf("%s: resources %+v", c.Name, c.Resources)
		}
		if c.LivenessProbe == nil || c.ReadinessProbe == nil {
			t.Errorf("%s has no probes", c.Name)
		}
	}
	var account corev1.ServiceAccount
	readBase(t, "service-account.yaml", &account)
	if ptr.Deref(account.AutomountServiceAccountToken, true) {
		t.Error("its token is mounted into every pod with the account")
	}
}

// TestReplicasRunOnAllPlatforms checks the requirements of other platforms, and that replicas
// don't preempt members.
func TestReplicasRunOnAllPlatforms(t *testing.T) {
	t.Parallel()
	var deployment appsv1.Deployment
	readBase(t, "deployment.yaml", &deployment)
	spec := deployment.Spec.Template.Spec
	if s := spec.SecurityContext; !ptr.Deref(s.RunAsNonRoot, false) || s.RunAsUser != nil || s.RunAsGroup != nil || s.FSGroup != nil {
		t.Errorf("OpenShift denies it, or it may run as root: %+v", s)
	}
	if spec.NodeSelector[corev1.LabelOSStable] != "linux" {
		t.Errorf("it may be scheduled to a Windows node: %v", spec.NodeSelector)
	}
	var class schedulingv1.PriorityClass
	readBase(t, "priority-class.yaml", &class)
	if class.Name != spec.PriorityClassName || ptr.Deref(class.PreemptionPolicy, "") != corev1.PreemptNever {
		t.Errorf("it may preempt members: %+v", class)
	}
}

// TestNetworkPolicy checks that the policy selects the replicas, allows ingress to their ports
// only, and allows egress to the ports of API servers.
func TestNetworkPolicy(t *testing.T) {
	t.Parallel()
	var deployment appsv1.Deployment
	readBase(t, "deployment.yaml", &deployment)
	var policy networkingv1.NetworkPolicy
	readBase(t, "network-policy.yaml", &policy)
	if diff := cmp.Diff(deployment.Spec.Selector, &policy.Spec.PodSelector); diff != "" {
		t.Errorf("pods (-the Deployment's +the policy's):\n%s", diff)
	}
	if want := []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}; !slices.Equal(policy.Spec.PolicyTypes, want) {
		t.Errorf("its types are %v", policy.Spec.PolicyTypes)
	}
	var served, in []string
	for _, p := range deployment.Spec.Template.Spec.Containers[0].Ports {
		served = append(served, p.Name)
	}
	for _, p := range policy.Spec.Ingress[0].Ports {
		in = append(in, p.Port.StrVal)
	}
	if len(policy.Spec.Ingress) != 1 || !slices.Equal(served, in) {
		t.Errorf("it allows ingress to %v, and the replicas serve %v", in, served)
	}
	var out []intstr.IntOrString
	for _, p := range policy.Spec.Egress[0].Ports {
		out = append(out, *p.Port)
	}
	for _, port := range []int32{443, 6443} {
		if !slices.Contains(out, intstr.FromInt32(port)) {
			t.Errorf("it does not allow egress to port %d, only to %v", port, out)
		}
	}
}

// TestPermissionsAreNarrow checks that no permission has a wildcard or allows to gain all other
// permissions.
func TestPermissionsAreNarrow(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"base/cluster-role.yaml", "base/leader-election-role.yaml", "overlays/self-signed/roles.yaml", "overlays/cert-manager/roles.yaml"} {
		for _, r := range rulesOf(t, file) {
			if all := slices.Concat(r.APIGroups, r.Resources, r.Verbs); slices.Contains(all, "*") {
				t.Errorf("%s: %+v has a wildcard", file, r)
			}
			for _, verb := range []string{"impersonate", "bind", "escalate"} {
				if slices.Contains(r.Verbs, verb) {
					t.Errorf("%s: %+v", file, r)
				}
			}
			for _, resource := range []string{"pods/exec", "pods/attach", "pods/portforward", "serviceaccounts/token", "nodes/proxy"} {
				if slices.Contains(r.Resources, resource) {
					t.Errorf("%s: %+v", file, r)
				}
			}
			byName := slices.Contains(r.Resources, "secrets") || slices.Contains(r.Resources, "mutatingwebhookconfigurations")
			if byName && len(r.ResourceNames) == 0 && !slices.Equal(r.Verbs, []string{"create"}) || byName && slices.Contains(r.Verbs, "list") {
				t.Errorf("%s: %+v does not name its objects", file, r)
			}
		}
	}
}

// rule is a rule of a Role or a ClusterRole.
type rule struct{ APIGroups, Resources, Verbs, ResourceNames []string }

func rulesOf(t *testing.T, file string) (rules []rule) {
	t.Helper()
	text, err := Files.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for part := range bytes.SplitSeq(text, []byte("\n---\n")) {
		var role struct{ Rules []rule }
		if err := yaml.Unmarshal(part, &role); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		rules = append(rules, role.Rules...)
	}
	if len(rules) == 0 {
		t.Fatalf("%s has no rules", file)
	}
	return rules
}

func readBase(t *testing.T, file string, into any) {
	t.Helper()
	text, err := Files.ReadFile("base/" + file)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}
