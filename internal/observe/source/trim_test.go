// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
)

// TestCacheKeepsMountedPrograms holds that a cached pod and a cached StatefulSet show as much as those
// that were read, where a script of a ConfigMap starts the container. No volume of it is kept.
func TestCacheKeepsMountedPrograms(t *testing.T) {
	t.Parallel()
	for env, want := range map[string]bool{
		"ETCD_NAME ETCD_DATA_DIR": false, "ETCD_LISTEN_CLIENT_URLS ETCD_LISTEN_PEER_URLS": true,
	} {
		c := corev1.Container{Name: "c", Command: []string{"/scripts/run.sh"}}
		for name := range strings.FieldsSeq(env) {
			c.Env = append(c.Env, corev1.EnvVar{Name: name})
		}
		c.VolumeMounts = []corev1.VolumeMount{{Name: "s", MountPath: "/scripts"}}
		spec := corev1.PodSpec{Containers: []corev1.Container{c, c}, Volumes: []corev1.Volume{{
			Name: "s", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}},
		}}}
		spec.Containers[1].Command = []string{"sleep", "infinity"}
		pod, sts := &corev1.Pod{Spec: spec}, &appsv1.StatefulSet{}
		sts.Spec.Template.Spec = *spec.DeepCopy()
		for range 2 {
			trimPod(pod)
			trimStatefulSet(sts)
			for what, held := range map[string]*corev1.Pod{"pod": pod, "StatefulSet": etcdconf.PodOfTemplate(sts)} {
				if got := etcdconf.RunsEtcd(held); got != want || len(held.Spec.Volumes) > 0 {
					t.Errorf("%s: the cached %s shows etcd: %t, want %t, volumes %v", env, what, got, want, held.Spec.Volumes)
				}
			}
		}
	}
}

// TestCacheKeepsClosedGate holds that a cached pod shows whether one of its readiness gates is closed.
func TestCacheKeepsClosedGate(t *testing.T) {
	t.Parallel()
	for status, want := range map[corev1.ConditionStatus]string{corev1.ConditionTrue: "", corev1.ConditionFalse: "b", "": "b"} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{ReadinessGates: []corev1.PodReadinessGate{{ConditionType: "a"}, {ConditionType: "b"}}}}
		pod.Status.Conditions = []corev1.PodCondition{{Type: "a", Status: corev1.ConditionTrue}}
		if status != "" {
			pod.Status.Conditions = append(pod.Status.Conditions, corev1.PodCondition{Type: "b", Status: status})
		}
		for range 2 {
			trimPod(pod)
			got := ""
			for _, gate := range pod.Spec.ReadinessGates {
				got += string(gate.ConditionType)
			}
			if got != want {
				t.Errorf("gate b is %q: the cache holds %q, want %q", status, got, want)
			}
		}
	}
}

// TestCacheKeepsTheSpreadRecord holds that a record of any length in a template is recognised in a pod of it, and no other
// one is.
func TestCacheKeepsTheSpreadRecord(t *testing.T) {
	t.Parallel()
	for _, length := range []int{0, 10, mostAnnotations, mostAnnotations + 1, 200 << 10} {
		record := strings.Repeat("x", length)
		sts := &appsv1.StatefulSet{}
		sts.Spec.Template.Annotations = map[string]string{v1alpha1.SpreadAnnotation: record}
		for range 2 {
			trimStatefulSet(sts)
			if !HasSpreadRecord(sts, record) || HasSpreadRecord(sts, "y"+record) {
				t.Errorf("a record of %d bytes: the cache holds %d", length, len(sts.Spec.Template.Annotations[v1alpha1.SpreadAnnotation]))
			}
		}
	}
	if HasSpreadRecord(&appsv1.StatefulSet{}, "") {
		t.Error("a template without annotations has a record")
	}
}

// TestCacheReleasesLongLists holds that the cache doesn't keep the memory of the elements that it drops.
func TestCacheReleasesLongLists(t *testing.T) {
	t.Parallel()
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", OwnerReferences: make([]metav1.OwnerReference, 1<<10)}}
	sts.Spec.VolumeClaimTemplates = make([]corev1.PersistentVolumeClaim, 1<<10)
	transformed(t, sts)
	if claims, owners := cap(sts.Spec.VolumeClaimTemplates), cap(sts.OwnerReferences); claims > 2*mostClaims || owners > mostOwners/perEntry {
		t.Errorf("room for %d claim templates and %d owners", claims, owners)
	}
}

// mostCached is how many bytes the cache holds of an object at most, besides its placement.
const mostCached = 64 << 10

// TestCacheIsSmall has objects of a tenant in which each field that it may write is as long as the API
// server accepts. Of none the cache holds more than the limit.
func TestCacheIsSmall(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	for what, o := range hostileObjects(long) {
		for range 2 {
			text, err := json.Marshal(transformed(t, o))
			if err != nil || len(text) > mostCached {
				t.Errorf("%s: the cache holds %d bytes, %v: %.2000s", what, len(text), err, text)
			}
		}
	}
}

// hostileObjects returns objects with a text in each field that a user may write.
func hostileObjects(long string) map[string]client.Object {
	many := map[string]string{}
	for i := range 1 << 13 {
		many[fmt.Sprintf("key-%d", i)] = long[:60]
	}
	meta := func() metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: "team", Labels: many, Annotations: map[string]string{
			"other": long, v1alpha1.BudgetForAnnotation: long[:200<<10], v1alpha1.SpreadAnnotation: long[:200<<10], corev1.BetaStorageClassAnnotation: long[:200<<10], corev1.LastAppliedConfigAnnotation: long,
		}, Finalizers: []string{long}, OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: long, Name: "a", UID: "a"}, {APIVersion: "v1", Kind: "A", Name: "a", UID: types.UID(long)}}}
	}
	selector, always := &metav1.LabelSelector{MatchLabels: many}, corev1.ContainerRestartPolicyAlways
	out := map[string]client.Object{
		"a budget":  &policyv1.PodDisruptionBudget{ObjectMeta: meta(), Spec: policyv1.PodDisruptionBudgetSpec{Selector: selector}},
		"a Service": &corev1.Service{ObjectMeta: meta(), Spec: corev1.ServiceSpec{Selector: many, ExternalName: long}},
		"a Lease":   &coordinationv1.Lease{ObjectMeta: meta(), Spec: coordinationv1.LeaseSpec{HolderIdentity: &long}},
		"a claim":   &corev1.PersistentVolumeClaim{ObjectMeta: meta(), Spec: corev1.PersistentVolumeClaimSpec{Selector: selector}},
	}
	for name, command := range map[string][]string{
		"another program": {"sleep", long}, "etcd": {"etcd", "--initial-cluster=" + long},
		"a script": {"sh", "-c", "exec etcd --name a # " + long}, "a member list": {"etcd", "--initial-cluster=" + strings.Repeat("a=http://a:2380,", 1<<15)},
		"advertised URLs": {"etcd", "--name=$(P)", "--initial-cluster=$(P)=x,b=b", "--initial-advertise-peer-urls=" + distinct(1<<14)},
	} {
		spec := corev1.PodSpec{NodeSelector: many, Hostname: long, Containers: []corev1.Container{{
			Name: "etcd", Image: long, Command: command, Env: []corev1.EnvVar{{Name: "ETCD_NAME", Value: long}, {
				Name: "P", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}},
			}},
			ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: []string{long}}}},
			Lifecycle:      &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"etcdctl", "member", "remove", long}}}},
		}}}
		for i := range 1000 {
			spec.Containers = append(spec.Containers, corev1.Container{Name: fmt.Sprintf("c-%d", i), Command: []string{long[:100]}})
			spec.InitContainers = append(spec.InitContainers, corev1.Container{Name: fmt.Sprintf("s-%d", i), Command: []string{long[:100]}, RestartPolicy: &always})
		}
		sts := &appsv1.StatefulSet{ObjectMeta: meta(), Spec: appsv1.StatefulSetSpec{Selector: selector, VolumeClaimTemplates: make([]corev1.PersistentVolumeClaim, 1<<14)}}
		sts.Spec.Template = corev1.PodTemplateSpec{ObjectMeta: meta(), Spec: *spec.DeepCopy()}
		out["a pod of "+name], out["a StatefulSet of "+name] = &corev1.Pod{ObjectMeta: meta(), Spec: spec}, sts
	}
	return out
}

// distinct returns a list of so many URLs.
func distinct(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, "%x,", i)
	}
	return out.String()
}
