// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package install

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	policyv1alpha1 "github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/kubeclient"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// trialSuffix is the end of the name of the dry run's pod. No member's name has this end.
const trialSuffix = "-webhook-status"

// tryAdmission creates a pod in a dry run, and reads the webhook's answer from its annotations.
// A refusal or a missing permission is part of the result.
func (l *Inspector) tryAdmission(ctx context.Context) error {
	t := &l.st.Admission
	if !l.isUnseen(UnseenWebhooks) && !slices.ContainsFunc(l.webhooks, func(w calledWebhook) bool { return w.mutating && strings.HasPrefix(w.name, "pods.") }) {
		t.Error = "no webhook for pods is registered"
		return nil
	}
	pod, description := l.trialPod(ctx)
	if pod == nil {
		t.Error = description
		return nil
	}
	t.Asked = fmt.Sprintf("create pod %s in namespace %s, %s", pod.Name, pod.Namespace, description)
	collected := &warnings{}
	kube, err := l.collecting(collected)
	if err != nil {
		return err
	}
	before := l.clock.Now()
	err = kube.Create(ctx, pod, client.DryRunAll)
	t.Milliseconds = l.clock.Since(before).Milliseconds()
	if err != nil {
		if context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		t.Error = err.Error()
	}
	answer := pod.Annotations[policyv1alpha1.ProbeAnswerAnnotation]
	if err != nil {
		answer = collected.answer()
	}
	l.parseAnswer(answer)
	if record, ok := annotation.SpreadRecordOf(pod); ok && err == nil {
		t.Policy = record.Policy
		for _, term := range record.Terms {
			t.Added = append(t.Added, terms.Describe([]spread.Term{term}))
		}
	}
	return nil
}

// parseAnswer reads the webhook's answer: KEY=VALUE pairs, separated by spaces.
func (l *Inspector) parseAnswer(answer string) {
	t := &l.st.Admission
	for pair := range strings.FieldsSeq(answer) {
		key, value, _ := strings.Cut(pair, "=")
		switch key {
		case "replica":
			t.Answered, t.Replica = true, value
		case "version": // the version of the build; the image's tag may be another one
			t.Version, l.st.Program.Version = value, value
		case "outcome":
			t.Outcome = value
		case "reason":
			t.Reason = value
		case "policy":
			t.Policy = value
		}
	}
}

// warnings collects the warnings of the API server's answers.
type warnings struct {
	mu  sync.Mutex
	all []string
}

// HandleWarningHeader implements rest.WarningHandler.
func (w *warnings) HandleWarningHeader(code int, _, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if code == 299 {
		w.all = append(w.all, text)
	}
}

// answer returns the webhook's answer from the warnings. It is empty if there is none.
func (w *warnings) answer() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	answer := ""
	for _, text := range w.all {
		if first, begins := strings.CutPrefix(text, policyv1alpha1.ProbeAnswerAnnotation+": "); begins {
			answer = first
		} else if more, continues := strings.CutPrefix(text, "... "); continues && answer != "" {
			answer += " " + more
		}
	}
	return answer
}

// collecting returns a client that collects warnings instead of printing them.
func (l *Inspector) collecting(to *warnings) (client.Client, error) {
	config := rest.CopyConfig(l.config)
	config.WarningHandler = to
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return kubeclient.NewClient(config, httpClient, l.kube.Scheme())
}

// trialPod returns a pod that imitates a member of the first cluster that a policy governs, and
// a description of the pod. The answer for such a pod shows the policy's terms. If no policy
// governs a cluster, the pod belongs to no cluster. It is nil if the webhook is called for no
// namespace; the description is then the reason.
func (l *Inspector) trialPod(ctx context.Context) (pod *corev1.Pod, description string) {
	var namespaces corev1.NamespaceList
	if l.kube.List(ctx, &namespaces) != nil {
		// A user without this permission may still create a pod in their own namespace.
		return syntheticPod(l.namespace), "of no cluster (you may not list namespaces)"
	}
	inScope := map[string]labels.Set{}
	for _, ns := range namespaces.Items {
		if ns.DeletionTimestamp == nil && l.called(ns.Labels) {
			inScope[ns.Name] = ns.Labels
		}
	}
	if own, called := inScope[l.namespace]; l.explicit && called {
		inScope = map[string]labels.Set{l.namespace: own}
	}
	if o, member, policyName := l.governed(ctx, inScope); member != nil {
		l.st.Admission.GovernedBy = policyName
		return member, fmt.Sprintf("like a member of %s, which policy %s governs", o, policyName)
	}
	if _, ok := inScope[l.namespace]; ok {
		return syntheticPod(l.namespace), "of no cluster, because no policy governs a cluster that you may see"
	}
	if len(inScope) == 0 {
		return nil, fmt.Sprintf("the webhook for pods is called for none of the %d namespaces", len(namespaces.Items))
	}
	first := slices.Sorted(maps.Keys(inScope))[0]
	return syntheticPod(first), "of no cluster, because no policy governs a cluster that you may see"
}

// called reports whether the API server calls the webhook for pods in a namespace.
func (l *Inspector) called(namespace labels.Set) bool {
	if l.isUnseen(UnseenWebhooks) {
		name := namespace[corev1.LabelMetadataName]
		return name != metav1.NamespaceSystem && name != webhookSpace
	}
	for _, w := range l.webhooks {
		if !strings.HasPrefix(w.name, "pods.") {
			continue
		}
		selector, err := metav1.LabelSelectorAsSelector(w.namespaces)
		return err == nil && (w.namespaces == nil || selector.Matches(namespace))
	}
	return false
}

// governed returns the pod of a member of the first cluster to which a policy in mode Enforce
// applies. Clusters of the user's namespace are first. The pod is nil if there is none.
func (l *Inspector) governed(ctx context.Context, inScope map[string]labels.Set) (o owner.Owner, member *corev1.Pod, policyName string) {
	var policies policyv1alpha1.EtcdTopologyPolicyList
	if err := l.kube.List(ctx, &policies); err != nil || len(policies.Items) == 0 {
		return owner.Owner{}, nil, ""
	}
	owners, err := l.reader.Owners(ctx)
	if err != nil {
		owners, err = l.reader.Owners(ctx, client.InNamespace(l.namespace))
	}
	if err != nil {
		return owner.Owner{}, nil, ""
	}
	slices.SortStableFunc(owners, func(a, b owner.Owner) int {
		switch {
		case a.Namespace == b.Namespace:
			return 0
		case a.Namespace == l.namespace:
			return -1
		case b.Namespace == l.namespace:
			return 1
		}
		return 0
	})
	allowed := map[string]bool{}
	for _, o := range owners {
		ns, called := inScope[o.Namespace]
		m := topologypolicy.Choose(policies.Items, ns, o)
		if !called || !m.In(policyv1alpha1.ModeEnforce) || !l.mayTry(ctx, o.Namespace, allowed) {
			continue
		}
		if pod := memberOf(ctx, l.reader, o); pod != nil {
			return o, pod, m.Policy.Name
		}
	}
	return owner.Owner{}, nil, ""
}

// mayTry reports whether the user may create a pod in a namespace. It is true if the check
// fails, because the dry run then shows the error. allowed has the results of earlier checks.
func (l *Inspector) mayTry(ctx context.Context, namespace string, allowed map[string]bool) bool {
	if may, known := allowed[namespace]; known {
		return may
	}
	missing, err := operate.Missing(ctx, l.kube, []operate.Need{{Verb: "create", Resource: "pods", Namespace: namespace}})
	allowed[namespace] = err != nil || len(missing) == 0
	return allowed[namespace]
}

// memberOf returns a pod that imitates a member of the cluster. Admission finds the cluster by
// the StatefulSet that owns the pod. It is nil if the cluster has no pod yet or spans several
// StatefulSets, or if admission would find another cluster.
func memberOf(ctx context.Context, r *observe.Reader, o owner.Owner) *corev1.Pod {
	member, there, err := scheduling.MemberPod(ctx, r, o)
	if err != nil || !there || o.Spans() {
		return nil // the members of several StatefulSets are selected by their own names
	}
	pod := likeMember(member)
	if known, ok, err := r.OwnerOfPod(ctx, pod); err != nil || !ok || known.Key() != o.Key() {
		return nil
	}
	return pod
}

// syntheticPod returns a pod that runs etcd and belongs to no cluster.
func syntheticPod(namespace string) *corev1.Pod {
	name := "sample" + trialSuffix
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels:      map[string]string{appsv1.StatefulSetPodNameLabel: name},
			Annotations: map[string]string{policyv1alpha1.ProbeAnnotation: "kubectl-etcd"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "StatefulSet", Name: name, UID: "00000000-0000-0000-0000-000000000000", Controller: new(true),
			}},
		},
		Spec: minimalPodSpec(),
	}
}

// likeMember returns a pod with the scheduling terms of a member. Its container is allowed by
// the Pod Security of every namespace.
func likeMember(member *corev1.Pod) *corev1.Pod {
	pod := syntheticPod(member.Namespace)
	pod.OwnerReferences = member.OwnerReferences
	pod.Name = member.Name + trialSuffix
	maps.Copy(pod.Labels, member.Labels)
	pod.Labels[appsv1.StatefulSetPodNameLabel] = member.Name
	pod.Spec.Affinity = member.Spec.Affinity
	pod.Spec.TopologySpreadConstraints = member.Spec.TopologySpreadConstraints
	pod.Spec.NodeSelector, pod.Spec.Tolerations = member.Spec.NodeSelector, member.Spec.Tolerations
	return pod
}

func minimalPodSpec() corev1.PodSpec {
	small := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1m"), corev1.ResourceMemory: resource.MustParse("1Mi")}
	return corev1.PodSpec{
		SecurityContext: &corev1.PodSecurityContext{
			RunAsNonRoot: new(true), SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
		},
		Containers: []corev1.Container{{
			Name: "etcd", Image: "registry.k8s.io/etcd", Command: []string{"etcd"},
			Resources: corev1.ResourceRequirements{Requests: small, Limits: small},
			SecurityContext: &corev1.SecurityContext{
				AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
			},
		}},
	}
}
