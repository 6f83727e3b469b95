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
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// trialSuffix ends the name of the pod that is asked for. No member's name ends so.
const trialSuffix = "-webhook-status"

// tryAdmission asks the API server for a pod, in a dry run, and sees whether it
// comes back changed. What is refused or not allowed is part of the result.
func (l *Inspector) tryAdmission(ctx context.Context) error {
	t := &l.st.Admission
	if !l.mayNotSee(UnseenWebhooks) && !slices.ContainsFunc(l.webhooks, func(w calledWebhook) bool { return w.mutating && strings.HasPrefix(w.name, "pods.") }) {
		t.Error = "no webhook for pods is registered"
		return nil
	}
	pod, looksLike := l.trialPod(ctx)
	if pod == nil {
		t.Error = looksLike
		return nil
	}
	t.Asked = fmt.Sprintf("create pod %s in namespace %s, %s", pod.Name, pod.Namespace, looksLike)
	heard := &warnings{}
	asking, err := l.listening(heard)
	if err != nil {
		return err
	}
	before := l.clock.Now()
	err = asking.Create(ctx, pod, client.DryRunAll)
	t.Milliseconds = l.clock.Since(before).Milliseconds()
	if err != nil {
		if context.Cause(ctx) != nil {
			return context.Cause(ctx)
		}
		t.Error = err.Error()
	}
	answer := pod.Annotations[policyv1alpha1.ProbeAnswerAnnotation]
	if err != nil {
		answer = heard.answer()
	}
	l.understand(answer)
	if record, ok := annotation.SpreadRecordOf(pod); ok && err == nil {
		t.Policy = record.Policy
		for _, term := range record.Terms {
			t.Added = append(t.Added, observe.DescribeTerms([]spread.Term{term}))
		}
	}
	return nil
}

// understand reads the webhook's answer: KEY=VALUE, divided by blanks.
func (l *Inspector) understand(answer string) {
	t := &l.st.Admission
	for word := range strings.FieldsSeq(answer) {
		key, value, _ := strings.Cut(word, "=")
		switch key {
		case "replica":
			t.Answered, t.Replica = true, value
		case "version": // what it was built from, which the image's tag needn't say
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

// warnings collects those that come with an answer of the API server.
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

// answer is the webhook's, empty if it gave none.
func (w *warnings) answer() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	answer := ""
	for _, text := range w.all {
		if said, begins := strings.CutPrefix(text, policyv1alpha1.ProbeAnswerAnnotation+": "); begins {
			answer = said
		} else if more, continues := strings.CutPrefix(text, "... "); continues && answer != "" {
			answer += " " + more
		}
	}
	return answer
}

// listening is a client whose warnings are collected instead of printed.
func (l *Inspector) listening(to *warnings) (client.Client, error) {
	config := rest.CopyConfig(l.config)
	config.WarningHandler = to
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	return kubeclient.NewClient(config, httpClient, l.kube.Scheme())
}

// trialPod is a pod that looks like a member's, and says whose. Of the clusters
// that a policy governs the first is taken: its pod shows the policy's terms. Nil
// where no namespace is asked about, with the words for that.
func (l *Inspector) trialPod(ctx context.Context) (pod *corev1.Pod, looksLike string) {
	var namespaces corev1.NamespaceList
	if l.kube.List(ctx, &namespaces) != nil {
		// Who may not list them may still create a pod in their own.
		return nobodysPod(l.namespace), "nobody's (you may not list namespaces)"
	}
	inScope := map[string]labels.Set{}
	for _, ns := range namespaces.Items {
		if ns.DeletionTimestamp == nil && l.called(ns.Labels) {
			inScope[ns.Name] = ns.Labels
		}
	}
	if own, called := inScope[l.namespace]; l.only && called {
		inScope = map[string]labels.Set{l.namespace: own}
	}
	if o, member, policyName := l.governed(ctx, inScope); member != nil {
		l.st.Admission.GovernedBy = policyName
		return member, fmt.Sprintf("like a member of %s, which policy %s governs", o, policyName)
	}
	if _, ok := inScope[l.namespace]; ok {
		return nobodysPod(l.namespace), "nobody's: no policy governs a cluster that you may see"
	}
	if len(inScope) == 0 {
		return nil, fmt.Sprintf("the webhook for pods is called for none of the %d namespaces", len(namespaces.Items))
	}
	first := slices.Sorted(maps.Keys(inScope))[0]
	return nobodysPod(first), "nobody's: no policy governs a cluster that you may see"
}

// called says whether the webhook for pods is called for a namespace.
func (l *Inspector) called(namespace labels.Set) bool {
	if l.mayNotSee(UnseenWebhooks) {
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

// governed is a member's pod of the first cluster, those of the user's namespace
// before others, that a policy which is enforced applies to; nil for none.
func (l *Inspector) governed(ctx context.Context, inScope map[string]labels.Set) (o observe.Owner, member *corev1.Pod, policyName string) {
	var policies policyv1alpha1.EtcdTopologyPolicyList
	if err := l.kube.List(ctx, &policies); err != nil || len(policies.Items) == 0 {
		return observe.Owner{}, nil, ""
	}
	owners, err := l.reader.Owners(ctx)
	if err != nil {
		owners, err = l.reader.Owners(ctx, client.InNamespace(l.namespace))
	}
	if err != nil {
		return observe.Owner{}, nil, ""
	}
	slices.SortStableFunc(owners, func(a, b observe.Owner) int {
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
	asked := map[string]bool{}
	for _, o := range owners {
		ns, called := inScope[o.Namespace]
		m := observe.Choose(policies.Items, ns, o)
		if !called || !m.In(policyv1alpha1.ModeEnforce) || !l.mayTry(ctx, o.Namespace, asked) {
			continue
		}
		if pod := memberOf(ctx, l.reader, o); pod != nil {
			return o, pod, m.Policy.Name
		}
	}
	return observe.Owner{}, nil, ""
}

// mayTry says whether the user may ask for a pod in a namespace: who may do so in one
// alone is to have the proof there. Where nobody answers, trying tells. Each namespace
// is asked about once.
func (l *Inspector) mayTry(ctx context.Context, namespace string, asked map[string]bool) bool {
	if may, known := asked[namespace]; known {
		return may
	}
	missing, err := operate.Missing(ctx, l.kube, []operate.Need{{Verb: "create", Resource: "pods", Namespace: namespace}})
	asked[namespace] = err != nil || len(missing) == 0
	return asked[namespace]
}

// memberOf is a pod that admission would know for the cluster's, which it does by the
// StatefulSet that owns it. Nil for an Etcd that has none yet, or another's of its name.
func memberOf(ctx context.Context, r *observe.Reader, o observe.Owner) *corev1.Pod {
	member, there, err := r.MemberPod(ctx, o)
	if err != nil || !there {
		return nil
	}
	pod := likeMember(member)
	if known, ok, err := r.OwnerOfPod(ctx, pod); err != nil || !ok || known.Key() != o.Key() {
		return nil
	}
	return pod
}

// nobodysPod runs etcd and belongs to no cluster.
func nobodysPod(namespace string) *corev1.Pod {
	name := "nobodys" + trialSuffix
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: name,
			Labels:      map[string]string{appsv1.StatefulSetPodNameLabel: name},
			Annotations: map[string]string{policyv1alpha1.ProbeAnnotation: "kubectl-etcd"},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: "apps/v1", Kind: "StatefulSet", Name: name, UID: "00000000-0000-0000-0000-000000000000", Controller: new(true),
			}},
		},
		Spec: harmless(),
	}
}

// likeMember has what decides where a member's pod goes, and a container that
// any namespace's Pod Security admits: nothing would run.
func likeMember(member *corev1.Pod) *corev1.Pod {
	pod := nobodysPod(member.Namespace)
	pod.OwnerReferences = member.OwnerReferences
	pod.Name = member.Name + trialSuffix
	maps.Copy(pod.Labels, member.Labels)
	pod.Labels[appsv1.StatefulSetPodNameLabel] = member.Name
	pod.Spec.Affinity = member.Spec.Affinity
	pod.Spec.TopologySpreadConstraints = member.Spec.TopologySpreadConstraints
	pod.Spec.NodeSelector, pod.Spec.Tolerations = member.Spec.NodeSelector, member.Spec.Tolerations
	return pod
}

func harmless() corev1.PodSpec {
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
