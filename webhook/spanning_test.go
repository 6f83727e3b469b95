// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// spanningCluster returns a healthy cluster over StatefulSets, each given as NAME/REPLICAS, with one
// budget that allows one eviction.
func spanningCluster(tb testing.TB, sets ...string) *liveObjects {
	tb.Helper()
	live := &liveObjects{}
	for _, name := range []string{"zones-3", "policy-default"} {
		live.objects = append(live.objects, readObjects(tb, filepath.Join("testdata", name+".facts.yaml"))...)
	}
	replicas, listed, pods := map[string]int{}, []string{}, []string{}
	for _, set := range sets {
		name, n := "", 0
		if _, err := fmt.Sscanf(strings.Replace(set, "/", " ", 1), "%s %d", &name, &n); err != nil {
			tb.Fatal(err)
		}
		replicas[name] = n
		for i := range n {
			listed = append(listed, fmt.Sprintf("%s-%d=http://%s-%d.%s:2380", name, i, name, i, name))
			pods = append(pods, fmt.Sprintf("%s-%d", name, i))
		}
	}
	for name, n := range replicas {
		sts := setOf(name, n, listed)
		live.objects = append(live.objects, sts)
		for i := range n {
			live.objects = append(live.objects, podOf(sts, i))
		}
	}
	live.objects = append(live.objects, &policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: "all", UID: "all-uid", ResourceVersion: "1", Generation: 1},
		Spec: policyv1.PodDisruptionBudgetSpec{
			MinAvailable: new(intstr.FromInt(len(pods)/2 + 1)),
			Selector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
				Key: appsv1.StatefulSetPodNameLabel, Operator: metav1.LabelSelectorOpIn, Values: pods,
			}}},
		},
		Status: policyv1.PodDisruptionBudgetStatus{ObservedGeneration: 1, DisruptionsAllowed: int32(len(pods) - len(pods)/2 - 1)},
	})
	return live
}

func setOf(name string, replicas int, listed []string) *appsv1.StatefulSet {
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: name, UID: types.UID(name + "-set")}}
	sts.Spec.Replicas, sts.Spec.ServiceName = new(int32(replicas)), name
	sts.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	sts.Spec.Template.Labels = map[string]string{"app": name}
	sts.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	sts.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "etcd", ReadinessProbe: &corev1.Probe{},
		Env: []corev1.EnvVar{
			{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
			{Name: "ETCD_INITIAL_CLUSTER", Value: strings.Join(listed, ",")},
		},
		Command: []string{"etcd", "--name=$(POD)", "--initial-advertise-peer-urls=http://$(POD)." + name + ":2380"},
	}}
	return sts
}

func podOf(sts *appsv1.StatefulSet, ordinal int) *corev1.Pod {
	name := fmt.Sprintf("%s-%d", sts.Name, ordinal)
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "db", Name: name, UID: types.UID(name + "-uid"),
			Labels:          map[string]string{"app": sts.Name, appsv1.StatefulSetPodNameLabel: name},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(sts, appsv1.SchemeGroupVersion.WithKind("StatefulSet"))},
		},
		Spec:   *sts.Spec.Template.Spec.DeepCopy(),
		Status: corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionTrue}}},
	}
}

func evictionOf(pod string) admissionv1.AdmissionRequest {
	return admissionv1.AdmissionRequest{
		UID: "u", Operation: admissionv1.Create, Namespace: "db", Name: pod, Resource: podResource, SubResource: "eviction",
		Object: runtime.RawExtension{Raw: []byte(`{"metadata":{"name":"` + pod + `"}}`)},
	}
}

// scaleOf is what kubectl scale writes.
func scaleOf(set string, now, asked int) admissionv1.AdmissionRequest {
	object := func(n int) runtime.RawExtension {
		return runtime.RawExtension{Raw: fmt.Appendf(nil, `{"metadata":{"name":%q,"namespace":"db"},"spec":{"replicas":%d}}`, set, n)}
	}
	return admissionv1.AdmissionRequest{
		UID: "u", Operation: admissionv1.Update, Namespace: "db", Name: set, SubResource: "scale",
		Resource: metav1.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}, Object: object(asked), OldObject: object(now),
	}
}

// expectation sends requests one after another.
type expectation struct {
	testing.TB
	server testServer
}

func (e expectation) gets(what string, request admissionv1.AdmissionRequest, allowed bool, reason string) admission.Response {
	e.Helper()
	got := e.server.handle(e, request)
	if got.Allowed != allowed || reasonOf(got) != reason {
		e.Errorf("%s: allowed %t, %s, want %t, %s: %v %q", what, got.Allowed, reasonOf(got), allowed, reason, got.Result, got.Warnings)
	}
	return got
}

// TestEvictionsOverStatefulSets holds that the members of all StatefulSets count, whichever of them
// the pod belongs to, and that evictions under way are recorded on the one budget.
func TestEvictionsOverStatefulSets(t *testing.T) {
	t.Parallel()
	for _, sets := range [][]string{{"a/1", "b/1", "c/1"}, {"a/2", "b/1"}, {"c/2", "b/1"}} {
		live := spanningCluster(t, sets...)
		e := expectation{t, replica(t, live, live)}
		var pods []string
		for _, o := range live.objects {
			if pod, is := o.(*corev1.Pod); is {
				pods = append(pods, pod.Name)
			}
		}
		slices.Sort(pods)
		first, second, last := pods[1], pods[0], pods[2]
		e.gets(first, evictionOf(first), true, "QuorumKept")
		e.gets(second, evictionOf(second), false, "EvictionUnderWay")
		e.gets(last, evictionOf(last), false, "EvictionUnderWay")
		change(live, "all", func(b *policyv1.PodDisruptionBudget) {
			if text := b.Annotations[v1alpha1.EvictionsAnnotation]; !strings.HasPrefix(text, first+"=") {
				t.Errorf("recorded %q", text)
			}
		})
		change(live, first, func(p *corev1.Pod) { p.DeletionTimestamp = new(metav1.NewTime(testNow)) })
		e.gets(last, evictionOf(last), false, "QuorumNeedsMember")
	}
}

// TestLateCacheOfStatefulSets holds that the API server shows which StatefulSets are one cluster: the
// cache may have one of them from before it listed the others.
func TestLateCacheOfStatefulSets(t *testing.T) {
	t.Parallel()
	live, late := spanningCluster(t, "a/1", "b/1", "c/1"), spanningCluster(t, "a/1", "b/1", "c/1")
	for _, name := range []string{"a", "b", "c"} {
		change(late, name, func(s *appsv1.StatefulSet) { s.Spec.Template.Spec.Containers[0].Env = nil })
	}
	e := expectation{t, replica(t, late, live)}
	e.gets("b-0", evictionOf("b-0"), true, "QuorumKept")
	e.gets("c-0", evictionOf("c-0"), false, "EvictionUnderWay")
	e.gets("c to 0", scaleOf("c", 1, 0), false, "VotersLost")
}

// TestMembersElsewhereCount holds that a StatefulSet of one member that lists others is no cluster of
// one: nothing is known of the others, so the budget and this guard count them as down.
func TestMembersElsewhereCount(t *testing.T) {
	t.Parallel()
	live := spanningCluster(t, "a/1", "b/1", "c/1")
	for _, name := range []string{"b", "c"} {
		change(live, name, func(s *appsv1.StatefulSet) { s.Namespace = "elsewhere" })
	}
	e := expectation{t, replica(t, live, live)}
	e.gets("a-0", evictionOf("a-0"), false, "QuorumNeedsMember")
	change(live, "a", func(s *appsv1.StatefulSet) { s.Annotations = map[string]string{v1alpha1.SizeAnnotation: "1"} })
	e.gets("a-0, the only voter", evictionOf("a-0"), true, "OneMember")
}

// TestUnlistedMemberIsDown holds that a member that joined a cluster by member add, and that its list does
// not name, counts while it is down: the three others are just a quorum of the four.
func TestUnlistedMemberIsDown(t *testing.T) {
	t.Parallel()
	live := spanningCluster(t, "main/3")
	listed := func(sts *appsv1.StatefulSet) string { return sts.Spec.Template.Spec.Containers[0].Env[1].Value }
	change(live, "main", func(s *appsv1.StatefulSet) {
		live.objects = append(live.objects, setOf("later", 1, []string{listed(s), "later-0=http://later-0.later:2380"}))
	})
	e := expectation{t, replica(t, live, live)}
	e.gets("main-1", evictionOf("main-1"), false, "QuorumNeedsMember")
	e.gets("main to 2", scaleOf("main", 3, 2), false, "VotersLost")
	change(live, "later", func(s *appsv1.StatefulSet) { s.Status.ReadyReplicas = 1 })
	e = expectation{t, replica(t, live, live)}
	e.gets("main-1, and the fourth is ready", evictionOf("main-1"), true, "QuorumKept")
}

// withSecret gives the members of StatefulSets variables from a Secret, which etcd-webhook does not read,
// in addition to what they have.
func withSecret(live *liveObjects, sets ...string) {
	for _, name := range sets {
		change(live, name, func(s *appsv1.StatefulSet) {
			s.Spec.Template.Spec.Containers[0].EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "tuning"}}}}
		})
	}
}

// TestEvictionsBesideASecret holds that variables from a Secret hide no list that the template has, and
// that a list which may be in the Secret does not make its StatefulSet a cluster of one.
func TestEvictionsBesideASecret(t *testing.T) {
	t.Parallel()
	live := spanningCluster(t, "a/1", "b/1", "c/1")
	withSecret(live, "a", "b", "c")
	e := expectation{t, replica(t, live, live)}
	e.gets("a-0", evictionOf("a-0"), true, "QuorumKept")
	e.gets("b-0", evictionOf("b-0"), false, "EvictionUnderWay")

	live = spanningCluster(t, "a/1", "b/1", "c/1")
	withSecret(live, "a", "b", "c")
	for _, name := range []string{"a", "b", "c"} {
		change(live, name, func(s *appsv1.StatefulSet) {
			s.Spec.Template.Spec.Containers[0].Env = s.Spec.Template.Spec.Containers[0].Env[:1]
		})
	}
	e = expectation{t, replica(t, live, live)}
	for _, pod := range []string{"a-0", "b-0"} {
		got := e.gets(pod, evictionOf(pod), false, "SizeUnknown")
		if text := got.Result.Message; got.Result.Code != 429 || !strings.Contains(text, "Secret db/tuning is not read") || !strings.Contains(text, "--initial-cluster") {
			t.Errorf("%s: refused with %d %q", pod, got.Result.Code, text)
		}
	}
	change(live, "a", func(s *appsv1.StatefulSet) { s.Annotations = map[string]string{v1alpha1.SizeAnnotation: "1"} })
	e.gets("a-0, the only voter", evictionOf("a-0"), true, "OneMember")
	e.gets("b-0 of another cluster", evictionOf("b-0"), false, "SizeUnknown")
}

// setReplicas stores a write of the replicas. The StatefulSet's pods are still there.
func setReplicas(live *liveObjects, set string, n int) {
	change(live, set, func(s *appsv1.StatefulSet) { s.Spec.Replicas = new(int32(n)) })
}

func deletePod(live *liveObjects, name string) {
	live.objects = slices.DeleteFunc(live.objects, func(o client.Object) bool { _, is := o.(*corev1.Pod); return is && o.GetName() == name })
}

// TestScaleOfOneStatefulSet holds that the voters of the whole cluster count when one of its
// StatefulSets is scaled, with and without a budget that knows its largest size.
func TestScaleOfOneStatefulSet(t *testing.T) {
	t.Parallel()
	for _, budget := range []bool{true, false} {
		live := spanningCluster(t, "a/1", "b/1", "c/1", "d/1", "e/1")
		if !budget {
			change(live, "all", func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector = nil })
		}
		e := expectation{t, replica(t, live, live)}
		for _, set := range []string{"c", "d"} {
			got := e.gets(set+" to 0", scaleOf(set, 1, 0), true, "VotersLeft")
			if text := strings.Join(got.Warnings, " "); !strings.Contains(text, "etcd keeps 5 voters") || !strings.Contains(text, "kubectl etcd member remove") {
				t.Errorf("warned %q", text)
			}
			setReplicas(live, set, 0)
			if set == "c" { // its controller is quick, that of d is not
				deletePod(live, "c-0")
			}
		}
		got := e.gets("a to 0", scaleOf("a", 1, 0), false, "VotersLost")
		if text := got.Result.Message; !strings.Contains(text, "2 of 5 voters would keep a replica, quorum is 3") ||
			!strings.Contains(text, "kubectl scale statefulset/c -n db --replicas N and kubectl scale statefulset/d -n db --replicas N") {
			t.Errorf("refused with %q", text)
		}
		// They start again one by one.
		e.gets("c to 1", scaleOf("c", 0, 1), true, "MoreReplicas")
	}
	live := spanningCluster(t, "a/1", "b/1", "c/1")
	e := expectation{t, replica(t, live, live)}
	e.gets("c to 0", scaleOf("c", 1, 0), true, "VotersLeft")
	setReplicas(live, "c", 0)
	e.gets("b to 0", scaleOf("b", 1, 0), false, "VotersLost")
	e.gets("a to 0", scaleOf("a", 1, 0), false, "VotersLost")
}

// TestStoppedStatefulSetsStart holds that a cluster that was stopped as a whole starts again: no write
// starts all of its StatefulSets.
func TestStoppedStatefulSetsStart(t *testing.T) {
	t.Parallel()
	live := spanningCluster(t, "a/1", "b/1", "c/1")
	for _, set := range []string{"a", "b", "c"} {
		setReplicas(live, set, 0)
		deletePod(live, set+"-0")
		live.objects = append(live.objects, &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "db", Name: "data-" + set + "-0"}})
	}
	e := expectation{t, replica(t, live, live)}
	got := e.gets("a to 1", scaleOf("a", 0, 1), true, "StartsTooFew")
	if text := strings.Join(got.Warnings, " "); !strings.Contains(strings.ReplaceAll(text, "... ", ""), "a, b and c") {
		t.Errorf("warned %q", text)
	}
	setReplicas(live, "a", 1)
	e.gets("b to 1", scaleOf("b", 0, 1), true, "MoreReplicas")
}

// TestWaysBesideAnotherPod has a StatefulSet of two beside a member that no StatefulSet runs. The webhook counts it as
// down, and each way that it prints is possible there: no replica of the StatefulSet is that member's.
func TestWaysBesideAnotherPod(t *testing.T) {
	t.Parallel()
	live := spanningCluster(t, "main/2", "x/1")
	change(live, "x", func(s *appsv1.StatefulSet) { s.Namespace = "elsewhere" })
	e := expectation{t, replica(t, live, live)}
	const way = "if other pods run them, which etcd-webhook doesn't count, replace each of them with a member that a StatefulSet runs"
	for _, got := range []admission.Response{
		e.gets("main-0", evictionOf("main-0"), false, "QuorumNeedsMember"), e.gets("main to 1", scaleOf("main", 2, 1), false, "VotersLost"),
	} {
		if text := got.Result.Message; !strings.Contains(text, way) {
			t.Errorf("refused with %q", text)
		}
	}
	change(live, "main", func(s *appsv1.StatefulSet) { s.Annotations = map[string]string{v1alpha1.SizeAnnotation: "3"} })
	got := e.gets("main to 1, declared", scaleOf("main", 2, 1), false, "VotersLost")
	if text := got.Result.Message; strings.Contains(text, "--replicas 3") || !strings.Contains(text, "its lists name 1 member that no StatefulSet of the cluster has; instead use kubectl etcd scale statefulset/main -n db --replicas N") {
		t.Errorf("declared: refused with %q", text)
	}
}

// TestScaleOfPart holds that the members elsewhere count when a StatefulSet is scaled that lists them and
// is no part of their cluster, since they don't list it.
func TestScaleOfPart(t *testing.T) {
	t.Parallel()
	live := spanningCluster(t, "a/1", "b/1", "c/1", "d/1")
	older := spanningCluster(t, "a/1", "b/1", "c/1")
	for _, set := range []string{"a", "b", "c"} {
		change(older, set, func(of *appsv1.StatefulSet) {
			change(live, set, func(s *appsv1.StatefulSet) { s.Spec.Template = of.Spec.Template })
		})
	}
	e := expectation{t, replica(t, live, live)}
	got := e.gets("d to 0", scaleOf("d", 1, 0), false, "VotersLost")
	if text := got.Result.Message; !strings.Contains(text, "0 of 4 voters would keep a replica, quorum is 3") {
		t.Errorf("refused with %q", text)
	}
	change(live, "d", func(s *appsv1.StatefulSet) { s.Annotations = map[string]string{v1alpha1.SizeAnnotation: "3"} })
	e.gets("d, which was removed from etcd, to 0", scaleOf("d", 1, 0), true, "AllStop")
}
