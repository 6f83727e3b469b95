// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
)

// mixSet is a StatefulSet whose pods list members, each by its name and a Service of that name.
func mixSet(name string, replicas int32, all ...string) *appsv1.StatefulSet {
	sts := &appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: name}}
	sts.Spec.Replicas, sts.Spec.Selector = &replicas, &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	var entries []string
	for _, n := range all {
		entries = append(entries, fmt.Sprintf("%s=http://%s:2380", n, n))
	}
	sts.Spec.Template.Spec.Containers = []corev1.Container{{
		Name: "etcd", Command: []string{"etcd", "--name=$(POD)", "--initial-advertise-peer-urls=http://$(POD):2380", "--initial-cluster=" + strings.Join(entries, ",")},
		Env: []corev1.EnvVar{{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}},
	}}
	return sts
}

// TestJoinPods has a row per mix of kinds, and per case that only seems to be one. Clusters are given as STATEFULSETS: PODS.
func TestJoinPods(t *testing.T) {
	t.Parallel()
	all := []string{"main-0", "main-1", "x"}
	main := mixSet("main", 2, all...)
	for _, row := range []struct {
		name string
		sets []*appsv1.StatefulSet
		pods []corev1.Pod
		want []string
	}{
		{"a bare pod", []*appsv1.StatefulSet{main}, []corev1.Pod{etcdPod("x", "", lists("x", all...)...)}, []string{"main: x (3)"}},
		{"a Deployment", []*appsv1.StatefulSet{main}, []corev1.Pod{etcdPod("x-5f9c-a", "Deployment/x", lists("x", all...)...)}, []string{"main: x-5f9c-a (3)"}},
		{"a static pod", []*appsv1.StatefulSet{main}, []corev1.Pod{etcdPod("x-cp-1", "Node/cp-1", lists("x", all...)...)}, []string{"main: x-cp-1 (3)"}},
		{"a DaemonSet", []*appsv1.StatefulSet{main}, []corev1.Pod{etcdPod("x-h2", "DaemonSet/x", lists("x", all...)...)}, []string{"main: x-h2 (3)"}},
		{"a pod with a StatefulSet's name", []*appsv1.StatefulSet{main}, []corev1.Pod{etcdPod("main-2", "", lists("x", all...)...)}, []string{"main: main-2 (3)"}},
		{"two StatefulSets and a pod", []*appsv1.StatefulSet{mixSet("a", 1, "a-0", "b-0", "x"), mixSet("b", 1, "a-0", "b-0", "x")}, []corev1.Pod{etcdPod("x", "", lists("x", "a-0", "b-0", "x")...)}, []string{"a b: x (3)"}},
		{"two StatefulSets that only a pod joins", []*appsv1.StatefulSet{mixSet("a", 1, "a-0", "x"), mixSet("b", 1, "b-0", "x")}, []corev1.Pod{etcdPod("x", "", lists("x", "a-0", "b-0", "x")...)}, []string{"a b: x (3)"}},
		{"a StatefulSet and pods of two kinds", []*appsv1.StatefulSet{mixSet("main", 1, "main-0", "x", "y")},
			[]corev1.Pod{etcdPod("x", "", lists("x", "main-0", "x", "y")...), etcdPod("y-5f9c-a", "Deployment/y", lists("y", "main-0", "x", "y")...)}, []string{"main: x y-5f9c-a (3)"}},
		{"with a member that has no pod", []*appsv1.StatefulSet{mixSet("main", 1, "main-0", "x", "gone")}, []corev1.Pod{etcdPod("x", "", lists("x", "main-0", "x", "gone")...)}, []string{"main: x (3, 1 elsewhere)"}},
		{"a pod that the StatefulSet does not list", []*appsv1.StatefulSet{mixSet("main", 2, "main-0", "main-1")}, []corev1.Pod{etcdPod("x", "", lists("x", all...)...)}, nil},
		{"a pod that does not list the StatefulSet", []*appsv1.StatefulSet{main}, []corev1.Pod{etcdPod("x", "", lists("x", "x")...)}, nil},
		{"a pod of the same name with another address", []*appsv1.StatefulSet{main}, []corev1.Pod{etcdPod("x", "", "--name=x", "--initial-advertise-peer-urls=http://other:2380", "--initial-cluster=x=http://other:2380,main-0=http://main-0:2380")}, nil},
		{"two pods that advertise one address", []*appsv1.StatefulSet{main}, []corev1.Pod{etcdPod("x", "", lists("x", all...)...), etcdPod("copy", "", lists("x", all...)...)}, nil},
		{"a pod that advertises a StatefulSet's address", []*appsv1.StatefulSet{mixSet("main", 1, "main-0", "x")}, []corev1.Pod{etcdPod("x", "", lists("x", "main-0", "x")...), etcdPod("copy", "", lists("main-0", "main-0", "x")...)}, nil},
		{"a Job's pod", []*appsv1.StatefulSet{main}, []corev1.Pod{etcdPod("x", "Job/x", lists("x", all...)...)}, nil},
		{"a pod that has ended", []*appsv1.StatefulSet{main}, []corev1.Pod{inPhase(etcdPod("x", "", lists("x", all...)...), corev1.PodFailed)}, nil},
	} {
		got := mixedNames(JoinPods(row.sets, row.pods))
		if !slices.Equal(got, row.want) {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

func mixedNames(mixed []Mixed) []string {
	var out []string
	for _, m := range mixed {
		text := fmt.Sprintf("%s: %s (%d", strings.Join(m.sets, " "), strings.Join(m.Owner.PodsBeside, " "), m.Owner.Size())
		if m.Owner.Elsewhere > 0 {
			text += fmt.Sprintf(", %d elsewhere", m.Owner.Elsewhere)
		}
		out = append(out, text+")")
	}
	slices.Sort(out)
	return out
}

// TestOwnerWithPodsBeside holds what the members of a mixed cluster are: those of the StatefulSet have numbers
// and claims.
func TestOwnerWithPodsBeside(t *testing.T) {
	t.Parallel()
	all := []string{"main-0", "main-1", "x"}
	mixed := JoinPods([]*appsv1.StatefulSet{mixSet("main", 2, all...)}, []corev1.Pod{etcdPod("main-2", "", lists("x", all...)...)})
	if len(mixed) != 1 {
		t.Fatal(mixed)
	}
	o := mixed[0].Owner
	if o.Ordinal("main-1") != 1 || o.Ordinal("main-2") != -1 || o.PodName(1) != "main-1" || o.PodName(2) != "" || o.Target().String() != "statefulset/main" {
		t.Errorf("%+v", o)
	}
	if o.Members() != 3 || o.StatefulSetOf("main-1") != "main" || o.StatefulSetOf("main-2") != "" || o.StatefulSetOf("x") != "" {
		t.Errorf("%d members; main-1 is of %q, main-2 of %q", o.Members(), o.StatefulSetOf("main-1"), o.StatefulSetOf("main-2"))
	}
}

// TestMixedClusterIsOne holds that the parts of a mixed cluster are one in a list of clusters, and that no command that
// changes one StatefulSet changes its members.
func TestMixedClusterIsOne(t *testing.T) {
	t.Parallel()
	all := []string{"main-0", "main-1", "x"}
	beside := etcdPod("main-2", "", lists("x", all...)...)
	mixed := JoinPods([]*appsv1.StatefulSet{mixSet("main", 2, all...)}, []corev1.Pod{beside})
	if len(mixed) != 1 {
		t.Fatal(mixed)
	}
	if m := mixed[0].Owner.Membership(); m.Manager != flavour.BySets || !strings.Contains(m.ManagerName, "main and pod main-2") {
		t.Errorf("%+v", m)
	}
	parts := append([]Owner{OfStatefulSet(mixSet("main", 2, all...)), OfStatefulSet(mixSet("other", 1))}, OfPods([]corev1.Pod{beside})...)
	if got := WithPods(parts, mixed); len(got) != 2 || got[0].Name != "main" || len(got[0].PodsBeside) != 1 || got[1].Name != "other" {
		t.Errorf("%+v", got)
	}
}

// kindsOfPods make pods in the property test.
var kindsOfPods = []string{"", "Deployment", "Node", "DaemonSet"}

// TestMixedListEachOther has random StatefulSets of one member and pods of every kind. A StatefulSet and a pod
// are in one cluster exactly if a chain leads from one to the other of which each lists an entry of the next,
// and is listed by it, by a naive second implementation.
func TestMixedListEachOther(t *testing.T) {
	t.Parallel()
	random, joined := seeded(t), 0
	for range 2000 {
		sets, pods, names := randomMix(random)
		want := naiveMixed(sets, pods, names)
		var got []string
		for _, m := range JoinPods(sets, pods) {
			got = append(got, strings.Join(m.sets, " ")+": "+strings.Join(m.Owner.PodsBeside, " "))
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%v\n got %q\nwant %q", names, got, want)
		}
		joined += len(got)
	}
	if joined < 200 {
		t.Errorf("only %d clusters of several kinds", joined)
	}
}

// randomMix returns StatefulSets and pods, and which members each lists, by its member.
func randomMix(random *rand.Rand) (sets []*appsv1.StatefulSet, pods []corev1.Pod, names map[string][]string) {
	names = map[string][]string{}
	var members []string
	nSets, nPods := 1+random.IntN(3), 1+random.IntN(3)
	for i := range nSets {
		members = append(members, fmt.Sprintf("s%d-0", i))
	}
	for i := range nPods {
		members = append(members, fmt.Sprintf("p%d", i))
	}
	for i, member := range members {
		listed := []string{member}
		for _, other := range members {
			if other != member && random.IntN(2) == 0 {
				listed = append(listed, other)
			}
		}
		names[member] = listed
		if i < nSets {
			sets = append(sets, mixSet(fmt.Sprint("s", i), 1, listed...))
			continue
		}
		made := kindsOfPods[random.IntN(len(kindsOfPods))]
		if made != "" {
			made += "/" + member
		}
		pods = append(pods, etcdPod(member, made, lists(member, listed...)...))
	}
	random.Shuffle(len(sets), func(i, j int) { sets[i], sets[j] = sets[j], sets[i] })
	random.Shuffle(len(pods), func(i, j int) { pods[i], pods[j] = pods[j], pods[i] })
	return sets, pods, names
}

// naiveMixed joins members until nothing changes: those that list each other, and pods that GroupPods joins.
//
//nolint:gocyclo // the naive implementation is one piece
func naiveMixed(sets []*appsv1.StatefulSet, pods []corev1.Pod, names map[string][]string) []string {
	group := map[string]string{}
	for member := range names {
		group[member] = member
	}
	join := func(a, b string) bool {
		from, to := group[a], group[b]
		for member := range group {
			if from != to && group[member] == from {
				group[member] = to
			}
		}
		return from != to
	}
	for _, g := range GroupPods(pods) {
		for _, pod := range g.Pods {
			join(pod.Name, g.Pods[0].Name)
		}
	}
	for changed := true; changed; {
		changed = false
		for a := range names {
			for b := range names {
				if slices.Contains(names[a], b) && slices.Contains(names[b], a) && join(a, b) {
					changed = true
				}
			}
		}
	}
	var out []string
	for member := range names {
		var inSets, beside []string
		for _, sts := range sets {
			if group[sts.Name+"-0"] == member {
				inSets = append(inSets, sts.Name)
			}
		}
		for i := range pods {
			if group[pods[i].Name] == member {
				beside = append(beside, pods[i].Name)
			}
		}
		if len(inSets) > 0 && len(beside) > 0 {
			slices.Sort(inSets)
			slices.Sort(beside)
			out = append(out, strings.Join(inSets, " ")+": "+strings.Join(beside, " "))
		}
	}
	slices.Sort(out)
	return out
}
