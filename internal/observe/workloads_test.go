// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/terms"
)

// TestSpanning has a row per way in which StatefulSets list each other. A cluster is given as
// NAME: PODS, with +N for members elsewhere, and ? if it may have more.
func TestSpanning(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		what string
		sets []*appsv1.StatefulSet
		want []string
	}{
		{"one per member", []*appsv1.StatefulSet{observetest.EtcdSet("c", "a", "b"), observetest.EtcdSet("a", "b", "c"), observetest.EtcdSet("b", "a", "c")}, []string{"a: a-0 b-0 c-0"}},
		{"two and one", []*appsv1.StatefulSet{observetest.EtcdSet("west", "east/2"), observetest.EtcdSet("east/2", "west")}, []string{"east: east-0 east-1 west-0"}},
		{"one alone", []*appsv1.StatefulSet{observetest.EtcdSet("a/3")}, []string{"a: a-0 a-1 a-2"}},
		{"the first was replaced", []*appsv1.StatefulSet{observetest.EtcdSet("b", "a", "c"), observetest.EtcdSet("c", "a", "b"), observetest.EtcdSet("d", "b", "c")}, []string{"b: b-0 c-0 +1", "d: d-0 +2"}},
		{"the first was replaced by one whose name is before the others", []*appsv1.StatefulSet{observetest.EtcdSet("b", "z", "c"), observetest.EtcdSet("c", "z", "b"), observetest.EtcdSet("a", "b", "c")}, []string{"a: a-0 +2", "b: b-0 c-0 +1"}},
		{"the first was replaced, and two claim to have done it",
			[]*appsv1.StatefulSet{observetest.EtcdSet("b", "a", "c"), observetest.EtcdSet("c", "a", "b"), observetest.EtcdSet("d", "b", "c"), observetest.EtcdSet("x", "b", "c")},
			[]string{"b: b-0 c-0 +1", "d: d-0 +2", "x: x-0 +2"}},
		{"the first two were replaced", []*appsv1.StatefulSet{observetest.EtcdSet("c", "a", "b"), observetest.EtcdSet("d", "b", "c"), observetest.EtcdSet("e", "c", "d")}, []string{"c: c-0 +2 ?", "d: d-0 +2 ?", "e: e-0 +2"}},
		{"one that isn't listed", []*appsv1.StatefulSet{observetest.EtcdSet("a", "b"), observetest.EtcdSet("b", "a"), observetest.EtcdSet("x", "a", "b")},
			[]string{"a: a-0 b-0", "x: x-0 +2"}},
		{"one that lists and isn't listed, beside a single one", []*appsv1.StatefulSet{observetest.EtcdSet("a"), observetest.EtcdSet("b", "a")}, []string{"a: a-0 ?", "b: b-0 +1"}},
		{"peers in no workload here", []*appsv1.StatefulSet{observetest.EtcdSet("a", "b", "c")}, []string{"a: a-0 +2"}},
		{"one is yet to come", []*appsv1.StatefulSet{observetest.EtcdSet("a", "b", "c"), observetest.EtcdSet("b", "a", "c")}, []string{"a: a-0 b-0 +1"}},
		{"a chain", []*appsv1.StatefulSet{observetest.EtcdSet("a", "b"), observetest.EtcdSet("b", "a", "c"), observetest.EtcdSet("c", "b")}, []string{"a: a-0 b-0 c-0"}},
		{"two claim one member", []*appsv1.StatefulSet{observetest.EtcdSet("a", "b", "c"), observetest.EtcdSet("b", "a", "c"), observetest.EtcdSet("c", "a", "b"), claiming("x", "c", "a", "b")},
			[]string{"a: a-0 b-0 +1", "c: c-0 +2", "x: x-0 +2"}},
		{"more than any cluster has", []*appsv1.StatefulSet{observetest.EtcdSet("a/20", "b"), scaledTo(observetest.EtcdSet("b", "a/20"), 20)}, []string{"a: +1", "b: +20"}},
		{"another namespace", []*appsv1.StatefulSet{observetest.EtcdSet("a", "b"), in("other", observetest.EtcdSet("b", "a"))}, []string{"a: a-0 +1", "b: b-0 +1"}},
		{"scaled to nothing", []*appsv1.StatefulSet{observetest.EtcdSet("a", "b", "c"), observetest.EtcdSet("b", "a", "c"), scaledTo(observetest.EtcdSet("c", "a", "b"), 0)}, []string{"a: a-0 b-0"}},
	} {
		t.Run(row.what, func(t *testing.T) {
			t.Parallel()
			for range 2 {
				if got := clustersOf(t, row.sets); !slices.Equal(got, row.want) {
					t.Errorf("clusters are %q, want %q", got, row.want)
				}
				slices.Reverse(row.sets)
			}
		})
	}
}

// claiming is a StatefulSet that advertises the members of another one.
func claiming(name, as string, others ...string) *appsv1.StatefulSet {
	sts := observetest.EtcdSet(as, others...)
	sts.Name, sts.UID = name, types.UID(name)
	c := &sts.Spec.Template.Spec.Containers[0]
	c.Command = []string{"etcd", "--name=" + as + "-0", "--initial-advertise-peer-urls=http://" + as + "-0." + as + ":2380"}
	return sts
}

func scaledTo(sts *appsv1.StatefulSet, replicas int32) *appsv1.StatefulSet {
	sts.Spec.Replicas = &replicas
	return sts
}

func in(namespace string, sts *appsv1.StatefulSet) *appsv1.StatefulSet {
	sts.Namespace = namespace
	return sts
}

// clustersOf returns the clusters of StatefulSets, and checks that each of them leads to its own.
func clustersOf(t *testing.T, sets []*appsv1.StatefulSet) []string {
	t.Helper()
	var objects observetest.Objects
	for _, sts := range sets {
		objects = append(objects, sts)
	}
	r := &Reader{Reader: objects, NoEtcds: func() bool { return true }}
	owners, err := r.Owners(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, o := range owners {
		out = append(out, described(o))
	}
	slices.Sort(out)
	live := &Reader{Reader: objects, names: objects, NoEtcds: r.NoEtcds}
	for _, sts := range sets {
		for _, reader := range []*Reader{r, live} {
			o, found, err := reader.OwnerOfStatefulSet(t.Context(), sts)
			if err != nil || !found || !o.Runs(sts.Name) || !slices.Contains(out, described(o)) {
				t.Errorf("%s is of %s, which is none of %q: %v", sts.Name, described(o), out, err)
			}
		}
	}
	return out
}

func described(o owner.Owner) string {
	text := o.Name + ":"
	for i := range min(int(o.Replicas), 9) {
		text += " " + o.PodName(i)
		if o.Ordinal(o.PodName(i)) != i {
			text += "?"
		}
	}
	if o.Replicas > 9 {
		text = o.Name + ":"
	}
	if o.Elsewhere > 0 {
		text += fmt.Sprintf(" +%d", o.Elsewhere)
	}
	if o.PeersUnknown != "" {
		text += " ?"
	}
	return text
}

// TestSelectorOfSpanning checks that the selector of a cluster that spans StatefulSets selects its
// members and no other pods, whatever labels the StatefulSets have.
func TestSelectorOfSpanning(t *testing.T) {
	t.Parallel()
	o := owner.Spanning([]*appsv1.StatefulSet{observetest.EtcdSet("a", "b/2"), observetest.EtcdSet("b/2", "a")})[0]
	for name, want := range map[string]bool{"a-0": true, "b-0": true, "b-1": true, "b-2": false, "c-0": false} {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a", appsv1.StatefulSetPodNameLabel: name}}}
		if got := terms.Selects(o.MemberSelector, &pod); got != want {
			t.Errorf("it selects %s: %t", name, got)
		}
	}
	if job := (&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "a"}}}); terms.Selects(o.MemberSelector, job) {
		t.Error("it selects a Job's pod")
	}
}

// TestSpanningKeepsMountedScripts has a script that only a ConfigMap shows. It changes members.
func TestSpanningKeepsMountedScripts(t *testing.T) {
	t.Parallel()
	sts := observetest.EtcdSet("a", "b")
	c := &sts.Spec.Template.Spec.Containers[0]
	c.VolumeMounts = []corev1.VolumeMount{{Name: "hooks", MountPath: "/hooks"}}
	c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"sh", "/hooks/stop.sh"}}}}
	hooks := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "hooks"}, Data: map[string]string{"stop.sh": "etcdctl member remove $ID"}}
	sts.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "hooks", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "hooks"}},
	}}}
	r := &Reader{Reader: observetest.Objects{sts, hooks}, NoEtcds: func() bool { return true }, Scripts: podfiles.NewScripts()}
	all, err := r.Owners(t.Context())
	if err != nil || len(all) != 1 || len(all[0].MemberChanges) != 1 {
		t.Errorf("Owners: %+v, %v", all, err)
	}
	one, found, err := r.OwnerOfStatefulSet(t.Context(), sts)
	if err != nil || !found || one.Elsewhere != 1 || len(one.MemberChanges) != 1 || one.Membership().Manager == flavour.Unmanaged {
		t.Errorf("OwnerOfStatefulSet: %+v, %t, %v", one, found, err)
	}
}

// TestSpanningReadsAllWorkloads holds that the commands that change members are read from each StatefulSet
// of a cluster, inline and mounted, whichever of them the cluster is found by.
func TestSpanningReadsAllWorkloads(t *testing.T) {
	t.Parallel()
	hook := func(sts *appsv1.StatefulSet, command ...string) *appsv1.StatefulSet {
		c := &sts.Spec.Template.Spec.Containers[0]
		c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: command}}}
		c.VolumeMounts = []corev1.VolumeMount{{Name: "hooks", MountPath: "/hooks"}}
		sts.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "hooks", VolumeSource: corev1.VolumeSource{
			ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "hooks"}},
		}}}
		return sts
	}
	hooks := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "hooks"}, Data: map[string]string{"stop.sh": "etcdctl member remove $ID"}}
	a := observetest.EtcdSet("a", "b", "c")
	b := hook(observetest.EtcdSet("b", "a", "c"), "etcdctl", "member", "remove", "x")
	c := hook(observetest.EtcdSet("c", "a", "b"), "sh", "/hooks/stop.sh")
	of := func(o owner.Owner) string {
		var out []string
		for _, m := range o.MemberChanges {
			out = append(out, m.Where()+": "+m.Command())
		}
		slices.Sort(out)
		return strings.Join(out, ", ")
	}
	const (
		inline  = "the preStop hook of container etcd of b: etcdctl member remove"
		mounted = inline + ", the preStop hook of container etcd of c: etcdctl member remove"
	)
	for want, scripts := range map[string]*podfiles.Scripts{inline: nil, mounted: podfiles.NewScripts()} {
		r := &Reader{Reader: observetest.Objects{a, b, c, hooks}, NoEtcds: func() bool { return true }, Scripts: scripts}
		all, err := r.Owners(t.Context())
		if err != nil || len(all) != 1 || of(all[0]) != want {
			t.Errorf("Owners: %+v, %v; want %q", all, err, want)
		}
		for _, sts := range []*appsv1.StatefulSet{a, b, c} {
			if one, found, err := r.OwnerOfStatefulSet(t.Context(), sts); err != nil || !found || of(one) != want {
				t.Errorf("by %s: %q, %t, %v; want %q", sts.Name, of(one), found, err, want)
			}
		}
	}
}

// TestCachedStatefulSetsAreNotParsed checks that StatefulSets without peers elsewhere cost the search
// for peers next to nothing when they come from the cache: a parsed script takes thousands of
// allocations.
func TestCachedStatefulSetsAreNotParsed(t *testing.T) { //nolint:paralleltest // it counts allocations
	const n = 2000
	var sets []*appsv1.StatefulSet
	for i := range n {
		sts := observetest.EtcdSet("s" + strconv.Itoa(i))
		script := "exec etcd"
		if i%2 == 0 {
			script = "exec other-etcd"
		}
		sts.Spec.Template.Spec.Containers[0].Command = []string{"sh", "-c", strings.Repeat("echo a b c\n", 2900) + script}
		sets = append(sets, sts)
		if i >= 2 {
			sets[i] = sets[i%2].DeepCopy()
			continue
		}
		sets[i] = cached(t, observetest.Objects{sts})[0].(*appsv1.StatefulSet)
	}
	if per := testing.AllocsPerRun(1, func() { owner.Spanning(sets) }) / n; per > 20 {
		t.Errorf("%.0f allocations for each StatefulSet", per)
	}
}
