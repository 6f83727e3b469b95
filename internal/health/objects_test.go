// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"testing"
	"time"

	druidcommon "github.com/gardener/etcd-druid/api/common"
	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	output "github.com/kubectl-etcd/kubectl-etcd/api/output/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/memberservices"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/topologypolicy"
	"github.com/kubectl-etcd/kubectl-etcd/internal/reasons"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// inPod keeps a member's data in its pod.
func inPod(i int) func(*Facts) {
	return pod(i, func(p *corev1.Pod) {
		p.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
	})
}

// boundAmong records of a member what admission records where a volume is bound where
// another member is.
func boundAmong(i int) func(*Facts) {
	return pod(i, func(p *corev1.Pod) {
		record := annotation.SpreadRecord{Policy: "all", Notes: []annotation.SpreadNote{{Reason: spread.VolumeZoneTaken.Name()}}}
		p.Annotations = map[string]string{v1alpha1.SpreadAnnotation: record.String()}
	})
}

func TestPlacement(t *testing.T) {
	t.Parallel()
	governed := func(mode v1alpha1.Mode, kept policy.Status) func(*Facts) {
		return func(f *Facts) {
			f.Policy.Value.Policy = &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: v1alpha1.EtcdTopologyPolicySpec{Mode: mode}}
			f.Standing.Value = spread.Status{Kept: kept, Message: "it stands"}
		}
	}
	together := func(f *Facts) { f.Placement.Value[2].Node, f.Placement.Value[2].Zone = "node-0", "a" }
	judge(t, []row{
		{name: "apart", id: "P001", want: OK, message: "3 members on 3 nodes"},
		{name: "together", id: "P001", with: together, want: Warning, message: "main-0 and main-2 run on node node-0: its loss takes quorum", fix: "let an EtcdTopologyPolicy select the cluster (mode Enforce), then kubectl etcd restart statefulset/main --member main-2 -n team"},
		{name: "two of five together", id: "P001", size: 5, with: together, want: Warning, message: "run on node node-0"},
		{name: "too few nodes", id: "P001", with: func(f *Facts) { together(f); f.Nodes.Value = f.Nodes.Value[:2] }, want: Warning, fix: "2 nodes are too few for 3 members"},
		{name: "governed", id: "P001", with: func(f *Facts) { together(f); governed(v1alpha1.ModeEnforce, policy.False)(f) }, want: Warning, fix: "kubectl etcd restart statefulset/main --member main-2 -n team"},
		{name: "governed, and one is down", id: "P001", with: func(f *Facts) { together(f); governed(v1alpha1.ModeEnforce, policy.False)(f); silent(1)(f) }, want: Warning, fix: "once all members are healthy, kubectl etcd restart statefulset/main --member main-2 -n team"},
		{name: "data in the pod", id: "P001", with: func(f *Facts) { together(f); inPod(2)(f) }, want: Warning, fix: "then kubectl etcd member replace statefulset/main main-2 --force -n team"},
		{name: "data in the pod, and one is down", id: "P001", with: func(f *Facts) {
			together(f)
			inPod(2)(f)
			governed(v1alpha1.ModeEnforce, policy.False)(f)
			silent(1)(f)
		}, want: Warning, fix: "once all members are healthy, kubectl etcd member replace statefulset/main main-2 --force -n team"},
		{name: "kubeadm's", id: "P001", with: func(f *Facts) { together(f); kubeadm(f) }, want: Warning, fix: "replace main-2 by a member on another node, and no other member meanwhile, because its data doesn't follow it: kubeadm reset on its node, and kubeadm join --control-plane again"},
		{name: "an operator's pods", id: "P001", with: func(f *Facts) {
			together(f)
			f.Owner.WorkloadKind, f.Owner.Distribution, f.Owner.StatefulSet = owner.Pods, flavour.Cozystack, ""
		}, want: Warning, fix: "then kubectl delete pod main-2 -n team"},
		{name: "single", id: "P001", size: 1, want: NotApplicable},

		{name: "even", id: "P002", want: OK, message: "a 1, b 1, c 1"},
		{name: "uneven", id: "P002", with: func(f *Facts) { f.Placement.Value[2].Zone = "a" }, want: Warning, message: "a has 2", fix: "kubectl etcd restart statefulset/main --member main-2"},
		{name: "uneven, and all on one node", id: "P002", with: func(f *Facts) {
			for i := range f.Placement.Value {
				f.Placement.Value[i].Zone, f.Placement.Value[i].Node = f.Placement.Value[0].Zone, f.Placement.Value[0].Node
			}
		}, want: Warning, message: "members are not even over zones: a has 3, b has 0, c has 0; the loss of a takes the quorum"},
		{name: "uneven, and one is not Ready", id: "P002", with: func(f *Facts) { f.Placement.Value[2].Zone = "a"; crashing(f.Pods.Value[0]) }, want: Warning, fix: "once all members are healthy, kubectl etcd restart statefulset/main --member main-2"},
		{name: "uneven, and its volume is bound there", id: "P002", with: func(f *Facts) { f.Placement.Value[2].Zone = "a"; boundAmong(2)(f) }, want: Warning, fix: "kubectl etcd member replace statefulset/main main-2 --force -n team"},
		{name: "uneven, and the other's volume is bound there", id: "P002", with: func(f *Facts) { f.Placement.Value[2].Zone = "a"; boundAmong(0)(f) }, want: Warning, fix: "kubectl etcd member replace statefulset/main main-0 --force -n team"},
		{name: "uneven, and one is bound elsewhere", id: "P002", with: func(f *Facts) { f.Placement.Value[2].Zone = "a"; boundAmong(1)(f) }, want: Warning, fix: "kubectl etcd restart statefulset/main --member main-2"},
		{name: "one zone", id: "P002", with: func(f *Facts) {
			for i := range f.Nodes.Value {
				f.Nodes.Value[i].Zone = "a"
			}
		}, want: NotApplicable},
		{name: "five in three zones", id: "P002", size: 5, want: OK},

		{name: "none", id: "P003", want: NotApplicable},
		{name: "kept", id: "P003", with: governed(v1alpha1.ModeEnforce, policy.True), want: OK, message: "policy all: it stands"},
		{name: "broken", id: "P003", with: func(f *Facts) { together(f); governed(v1alpha1.ModeEnforce, policy.False)(f) }, want: Failure, fix: "kubectl etcd restart statefulset/main --member main-2 -n team"},
		{name: "a Deployment for each member", id: "P003", with: func(f *Facts) {
			together(f)
			governed(v1alpha1.ModeEnforce, policy.False)(f)
			f.Owner.WorkloadKind, f.Owner.Distribution, f.Owner.StatefulSet = owner.Pods, flavour.UnknownPods, ""
		}, want: NotApplicable, message: "adds no terms"},
		{name: "broken, and its volume is bound to that node", id: "P003", with: func(f *Facts) {
			together(f)
			governed(v1alpha1.ModeEnforce, policy.False)(f)
			f.VolumeNodes = map[string][]string{"main-2": {f.Placement.Value[2].Node}}
		}, want: Failure, fix: "kubectl etcd member replace statefulset/main main-2 --force -n team"},
		{name: "broken, and its volume admits another node", id: "P003", with: func(f *Facts) {
			together(f)
			governed(v1alpha1.ModeEnforce, policy.False)(f)
			f.VolumeNodes = map[string][]string{"main-2": {f.Placement.Value[2].Node, "node-2"}}
		}, want: Failure, fix: "kubectl etcd restart statefulset/main --member main-2 -n team"},
		{name: "uneven, and its volume is bound in the zone", id: "P002", with: func(f *Facts) {
			f.Placement.Value[2].Zone, f.Nodes.Value[2].Zone = "a", "a"
			f.Nodes.Value = append(f.Nodes.Value, spread.Node{Name: "node-3", Zone: "c"}, spread.Node{Name: "node-4", Zone: "a"})
			f.VolumeNodes = map[string][]string{"main-2": {"node-2", "node-4"}}
		}, want: Warning, fix: "kubectl etcd member replace statefulset/main main-2 --force -n team"},
		{name: "broken, and one is missing", id: "P003", with: func(f *Facts) {
			together(f)
			governed(v1alpha1.ModeEnforce, policy.False)(f)
			f.Pods.Value = f.Pods.Value[1:]
		}, want: Failure, fix: "once all members are healthy, kubectl etcd restart statefulset/main --member main-2 -n team"},
		{name: "broken, data in the pod", id: "P003", with: func(f *Facts) { together(f); governed(v1alpha1.ModeEnforce, policy.False)(f); inPod(2)(f) }, want: Failure, fix: "kubectl etcd member replace statefulset/main main-2 --force -n team"},
		{name: "broken, warned of", id: "P003", with: governed(v1alpha1.ModeWarn, policy.False), want: Warning},
		{name: "off", id: "P003", with: governed(v1alpha1.ModeOff, policy.False), want: NotApplicable},
	})
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	change := func(do func(*policyv1.PodDisruptionBudget)) func(*Facts) {
		return func(f *Facts) { do(&f.Selecting.Value[0]) }
	}
	least := func(n int) func(*Facts) {
		return change(func(b *policyv1.PodDisruptionBudget) { b.Spec.MinAvailable = new(intstr.FromInt(n)) })
	}
	most := func(v intstr.IntOrString) func(*Facts) {
		return change(func(b *policyv1.PodDisruptionBudget) { b.Spec.MinAvailable, b.Spec.MaxUnavailable = nil, &v })
	}
	part := func(v string) func(*Facts) {
		return change(func(b *policyv1.PodDisruptionBudget) { b.Spec.MinAvailable = new(intstr.FromString(v)) })
	}
	always := change(func(b *policyv1.PodDisruptionBudget) { b.Spec.UnhealthyPodEvictionPolicy = new(policyv1.AlwaysAllow) })
	wide := func(f *Facts) {
		other := pdb("everything", 2)
		other.Spec.Selector = &metav1.LabelSelector{}
		f.Selecting.Value = append(f.Selecting.Value, other)
	}
	none := func(f *Facts) { f.Selecting.Value = nil }
	some := func(name string, pods ...string) policyv1.PodDisruptionBudget {
		b := pdb(name, 1)
		b.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
			Key: appsv1.StatefulSetPodNameLabel, Operator: metav1.LabelSelectorOpIn, Values: pods,
		}}}
		return b
	}
	single := func(f *Facts) {
		f.Selecting.Value = nil
		for _, pod := range f.Pods.Value {
			f.Selecting.Value = append(f.Selecting.Value, some(pod.Name, pod.Name))
		}
	}
	// partial notes of each budget that it selects too few.
	partial := func(f *Facts) {
		for i := range f.Selecting.Value {
			b := &f.Selecting.Value[i]
			fault := policy.NewNote(reasons.BudgetPartial, "budget %s can't protect the members alone: it selects 1 of the 3 members", b.Name)
			f.Budgets.Value.Others = append(f.Budgets.Value.Others, observe.Other{Budget: observe.Budget{PodDisruptionBudget: b}, Fault: &fault})
		}
	}
	ofDruid := func(f *Facts) {
		druid(nil)(f)
		f.Selecting.Value[0].OwnerReferences = []metav1.OwnerReference{{Kind: "Etcd", Controller: new(true)}}
	}
	stuck := func(f *Facts) { f.Selecting.Value[0].Status.DisruptionsAllowed = 0 }
	judge(t, []row{
		{name: "one", id: "B001", want: OK, message: "main"},
		{name: "none", id: "B001", with: none, want: Warning, fix: "kubectl create poddisruptionbudget main --min-available=2 --selector=app=main -n team"},
		{name: "none, and the selector has expressions", id: "B001", with: func(f *Facts) {
			none(f)
			f.Owner.MemberSelector = f.Owner.MemberSelector.DeepCopy()
			f.Owner.MemberSelector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "tier", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"backup"}}}
		}, want: Warning, fix: "--selector='app=main,tier notin (backup)' -n team"},
		{name: "none of static pods", id: "B001", with: func(f *Facts) { none(f); kubeadm(f) }, want: NotApplicable},
		{name: "none of a single member", id: "B001", size: 1, with: none, want: NotApplicable},
		{name: "none of a member that may have others", id: "B001", size: 1, with: func(f *Facts) { none(f); listUnknown(f) }, want: Unknown, message: "Secret team/tuning is not read"},
		{name: "none of a member whose others are elsewhere", id: "B001", size: 1, with: func(f *Facts) {
			none(f)
			listUnknown(f)
			f.Cluster.Value.Cluster = policy.Cluster{Size: 3, Elsewhere: 2}
		}, want: Unknown, message: "it may have 3"},
		{name: "none of the only member by etcd's list", id: "B001", size: 1, with: func(f *Facts) { none(f); f.Cluster.Value.Cluster.SizeUnknown = "x" }, want: NotApplicable},
		{name: "none of a DaemonSet's pods", id: "B001", with: func(f *Facts) {
			none(f)
			for _, pod := range f.Pods.Value {
				pod.OwnerReferences = []metav1.OwnerReference{{Kind: "DaemonSet", Controller: new(true)}}
			}
		}, want: NotApplicable},
		{name: "none of Deployments' pods, which a policy makes none for", id: "B001", with: func(f *Facts) {
			none(f)
			f.Owner.WorkloadKind, f.Owner.MemberSelector = owner.Pods, nil
			f.Policy.Value.Policy = &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: v1alpha1.EtcdTopologyPolicySpec{Mode: v1alpha1.ModeEnforce}}
			f.Policy.Value.Policy.Spec.Disruption.CreateMissing = true
		}, want: Warning, message: "etcd-webhook creates none for pods without a StatefulSet", fix: "create a PodDisruptionBudget with minAvailable 2"},
		{name: "none, although a policy makes one", id: "B001", with: func(f *Facts) {
			none(f)
			f.Policy.Value.Policy = &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: v1alpha1.EtcdTopologyPolicySpec{Mode: v1alpha1.ModeEnforce}}
			f.Policy.Value.Policy.Spec.Disruption.CreateMissing = true
		}, want: Warning, message: "although policy all creates one", fix: "kubectl etcd status"},
		{name: "none, and a policy", id: "B001", with: func(f *Facts) {
			none(f)
			f.Policy.Value.Policy = &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: v1alpha1.EtcdTopologyPolicySpec{Mode: v1alpha1.ModeEnforce}}
		}, want: Warning, fix: `kubectl patch etcdtopologypolicy all --type=merge -p '{"spec":{"disruption":{"createMissing":true}}}'`},

		{name: "one", id: "B002", want: OK},
		{name: "two", id: "B002", with: func(f *Facts) {
			other := pdb("helm", 2)
			other.Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
			f.Selecting.Value = append(f.Selecting.Value, other)
		}, want: Failure, message: "budgets helm and main select the same pods", fix: "kubectl delete poddisruptionbudget main -n team"},
		{name: "ours goes", id: "B002", with: func(f *Facts) {
			f.Selecting.Value[0].Labels = map[string]string{v1alpha1.CreatedByLabel: v1alpha1.CreatedByController}
			f.Selecting.Value = append(f.Selecting.Value, pdb("other", 2))
		}, want: Failure, fix: "delete poddisruptionbudget main "},

		{name: "one for each member", id: "B002", with: single, want: OK},
		{name: "two before there is a pod", id: "B002", with: func(f *Facts) {
			f.Pods.Value = nil
			f.Selecting.Value = append(f.Selecting.Value, pdb("other", 2))
		}, want: Failure},
		{name: "one that selects everything", id: "B002", with: wide, want: Failure, message: "budgets main and everything", fix: "kubectl edit poddisruptionbudget everything -n team"},
		{name: "the chart's selects others, too", id: "B002", with: func(f *Facts) {
			f.Selecting.Value[0].Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
			f.Selecting.Value = append(f.Selecting.Value, pdb("other", 2), pdb("third", 2))
			f.CoversOthers = []string{"main"}
		}, want: Failure, message: "budget other selects pods that main and third also select", fix: "kubectl delete poddisruptionbudget third -n team && kubectl edit poddisruptionbudget main -n team"},

		{name: "one for each member, and one for all", id: "B002", with: func(f *Facts) {
			single(f)
			f.Selecting.Value[0].CreationTimestamp = metav1.NewTime(noon.Add(-time.Hour))
			f.Selecting.Value = append(f.Selecting.Value, pdb("all", 2))
		}, want: Failure, message: "budget all selects pods that main-0, main-1 and main-2 also select", fix: "kubectl delete poddisruptionbudget main-0 main-1 main-2 -n team"},
		{name: "one for each member, and one for everything", id: "B002", with: func(f *Facts) { single(f); wide(f) }, want: Failure, fix: "kubectl edit poddisruptionbudget everything -n team"},
		{name: "the chart's for one member, and a whole one", id: "B002", with: func(f *Facts) {
			single(f)
			f.Selecting.Value[0].Labels = map[string]string{"app.kubernetes.io/managed-by": "Helm"}
			f.Selecting.Value = append(f.Selecting.Value[:1], pdb("all", 2))
		}, want: Failure, message: "budgets all and main-0 select", fix: "kubectl delete poddisruptionbudget main-0 -n team"},
		{name: "each protects a member of its own", id: "B002", with: func(f *Facts) {
			f.Selecting.Value = []policyv1.PodDisruptionBudget{some("left", "main-0", "main-1"), some("right", "main-1", "main-2")}
		}, want: Failure, fix: "kubectl edit poddisruptionbudget right -n team"},
		{name: "ours beside one with AlwaysAllow", id: "B002", with: func(f *Facts) {
			always(f)
			f.Selecting.Value = append(f.Selecting.Value, pdb("ours", 2))
			f.Selecting.Value[1].Labels = map[string]string{v1alpha1.CreatedByLabel: v1alpha1.CreatedByController}
			f.Budgets.Value.Managed = &observe.Budget{PodDisruptionBudget: &f.Selecting.Value[1]}
		}, want: Failure, fix: "delete poddisruptionbudget main "},
		{name: "what they protect is not known", id: "B002", with: func(f *Facts) {
			f.Selecting.Value, f.Budgets.Err = append(f.Selecting.Value, pdb("other", 2)), errRefused
		}, want: Failure, fix: "kubectl edit poddisruptionbudget other -n team"},

		{name: "quorum", id: "B003", want: OK},
		{name: "a member that may have others", id: "B003", size: 1, with: listUnknown, want: Unknown},
		{name: "a member that may have others", id: "B005", size: 1, with: func(f *Facts) { listUnknown(f); f.Selecting.Value[0].Status.DisruptionsAllowed = 0 }, want: Unknown, fix: "-"},
		{name: "half may go", id: "B003", with: most(intstr.FromString("50%")), want: Warning, message: "budget main (maxUnavailable=50%) keeps 1 of 3 members, quorum is 2", fix: `{"spec":{"maxUnavailable":1}}`},
		{name: "a tenth stays", id: "B003", with: part("10%"), want: Warning, message: "keeps 1 of 3", fix: `{"spec":{"minAvailable":2}}`},
		{name: "just more than half stays", id: "B003", with: part("51%"), want: OK},
		{name: "none stays, AlwaysAllow", id: "B003", with: func(f *Facts) { least(0)(f); always(f) }, want: Warning, message: "keeps 0 of 3"},
		{name: "below", id: "B003", with: least(1), want: Warning, message: "budget main (minAvailable=1) keeps 1 of 3 members, quorum is 2", fix: `kubectl patch poddisruptionbudget main --type=merge -p '{"spec":{"minAvailable":2}}' -n team`},
		{name: "one may go", id: "B003", with: most(intstr.FromInt32(1)), want: OK},
		{name: "two may go", id: "B003", with: most(intstr.FromInt32(2)), want: Warning, fix: `{"spec":{"maxUnavailable":1}}`},
		{name: "two of five may go", id: "B003", size: 5, with: most(intstr.FromInt32(2)), want: OK},

		{name: "one for each member", id: "B003", with: func(f *Facts) { single(f); partial(f) }, want: OK},
		{name: "below, of an Etcd", id: "B003", with: func(f *Facts) { least(1)(f); ofDruid(f) }, want: Warning, fix: "kubectl annotate etcd/main druid.gardener.cloud/operation=reconcile -n team"},

		{name: "one for each member, beside a whole one", id: "B004", with: func(f *Facts) {
			single(f)
			partial(f)
			for _, o := range f.Budgets.Value.Others[1:] {
				f.Budgets.Value.Notes = append(f.Budgets.Value.Notes, *o.Fault)
			}
		}, want: Warning, fix: "kubectl edit poddisruptionbudget main-1 -n team\nkubectl edit poddisruptionbudget main-2 -n team"},
		{name: "integer", id: "B004", want: OK},
		{name: "percentage", id: "B004", with: most(intstr.FromString("50%")), want: Warning, message: "budget main: maxUnavailable=50% is a percentage and keeps 1 of 3 members"},
		{name: "percentage that is quorum", id: "B004", with: part("51%"), want: Info, message: "budget main: minAvailable=51% is a percentage, which means another number at every size; it keeps 2 of 3 members", fix: "kubectl edit poddisruptionbudget main -n team"},
		{name: "percentage that is quorum, of five", id: "B004", size: 5, with: part("51%"), want: Info, message: "3 of 5"},
		{name: "no percentage", id: "B004", with: part("half"), want: Warning, message: "minAvailable=half is not a percentage"},
		{name: "AlwaysAllow of an Etcd", id: "B004", with: func(f *Facts) { always(f); druid(nil)(f) }, want: Warning, fix: "kubectl annotate etcd/main resources.druid.gardener.cloud/allow-unhealthy-pod-eviction- -n team"},
		{name: "AlwaysAllow", id: "B004", with: always, want: Warning, fix: `{"spec":{"unhealthyPodEvictionPolicy":null}}`},
		{name: "partial", id: "B004", with: func(f *Facts) {
			f.Budgets.Value.Problem = &policy.Note{Reason: reasons.BudgetPartial, Message: "budget main is left alone: it selects 2 of the 3 members"}
		}, want: Warning, message: "budget main: it selects 2 of the 3 members"},

		{name: "one", id: "B005", want: OK},
		{name: "members were removed from etcd, and the budget counts them", id: "B005", with: countsFive, want: Warning, message: "budget main counts 5 voters, the largest number that the cluster has had, and etcd lists 3", fix: `kubectl annotate --overwrite statefulset/main -n team kubectl-etcd.dev/size="3 at $(date -u +%FT%TZ)"`},
		{name: "the same, and etcd still has one of them", id: "B005", with: func(f *Facts) {
			countsFive(f)
			f.Survey.Value.List = append(f.Survey.Value.List, etcd.Listed{ID: 9, Name: "main-3"})
		}, want: Info, fix: "-"},
		{name: "the same, and etcd's list is not known", id: "B005", with: func(f *Facts) { countsFive(f); f.Survey.Value.ListErr = errRefused }, want: Info, fix: "-"},
		{name: "the same, and the list of a member alone has more", id: "B005", with: func(f *Facts) { countsFive(f); f.LastVoters = 5 }, want: Info, fix: "-"},
		{name: "all must stay, of an Etcd", id: "B005", with: func(f *Facts) { least(3)(f); stuck(f); ofDruid(f) }, want: Warning, fix: "kubectl annotate etcd/main druid.gardener.cloud/operation=reconcile -n team"},
		{name: "all must stay", id: "B005", with: func(f *Facts) { least(3)(f); stuck(f) }, want: Warning, message: "budget main (minAvailable=3) allows no eviction although all 3 members are healthy", fix: `{"spec":{"minAvailable":2}}`},
		{name: "all must stay, in per cent", id: "B005", with: func(f *Facts) { part("100%")(f); stuck(f) }, want: Warning, message: "budget main (minAvailable=100%) allows no eviction", fix: `{"spec":{"minAvailable":2}}`},
		{name: "all must stay, AlwaysAllow", id: "B005", with: func(f *Facts) { least(3)(f); always(f); stuck(f) }, want: Warning},
		{name: "single", id: "B005", size: 1, with: func(f *Facts) { least(1)(f); stuck(f) }, want: Warning, fix: `{"spec":{"minAvailable":0}}`},
		{name: "held by the webhook", id: "B005", with: func(f *Facts) {
			least(3)(f)
			stuck(f)
			f.Selecting.Value[0].Annotations = map[string]string{v1alpha1.BudgetReasonAnnotation: "BackupFailing"}
		}, want: Info, message: "BackupFailing", fix: "-"},
		{name: "one is sick", id: "B005", with: func(f *Facts) { least(3)(f); stuck(f); crashing(f.Pods.Value[0]) }, want: NotApplicable},
	})
}

// template changes the etcd container of the StatefulSet's template.
func template(change func(*corev1.Container)) func(*Facts) {
	return func(f *Facts) { change(&f.StatefulSet.Value.Spec.Template.Spec.Containers[0]) }
}

func execProbe(command ...string) *corev1.Probe {
	return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{Exec: &corev1.ExecAction{Command: command}}}
}

func TestWorkload(t *testing.T) {
	t.Parallel()
	liveness := func(path string) func(*Facts) {
		return template(func(c *corev1.Container) { c.LivenessProbe.HTTPGet.Path = path })
	}
	image := func(name string) func(*Facts) { return template(func(c *corev1.Container) { c.Image = name }) }
	limit := func(memory string) func(*Facts) {
		return template(func(c *corev1.Container) {
			c.Resources.Limits = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse(memory)}
		})
	}
	rollout := func(s appsv1.StatefulSetUpdateStrategy) func(*Facts) {
		return func(f *Facts) {
			f.StatefulSet.Value.Spec.UpdateStrategy = s
			f.StatefulSet.Value.Status = appsv1.StatefulSetStatus{Replicas: 3, UpdatedReplicas: 1, CurrentRevision: "a", UpdateRevision: "b"}
		}
	}
	two := rollout(appsv1.StatefulSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))}})
	held := func(value string) func(*Facts) {
		return func(f *Facts) {
			f.StatefulSet.Value.Annotations = map[string]string{
				v1alpha1.RolloutValueAnnotation: value, v1alpha1.RolloutReasonAnnotation: "MemberDown",
				v1alpha1.RolloutAuthorAnnotation: `{"type":"RollingUpdate"}`,
			}
		}
	}
	const (
		probePatch = `kubectl patch statefulset main --type=json -p '[{"op":"replace","path":"/spec/template/spec/containers/0/livenessProbe/httpGet/path","value":"`
		livez      = probePatch + `/livez"}]' -n team`
		health     = probePatch + `/health?exclude=NOSPACE&serializable=true"}]' -n team`
	)
	const again = "kubectl get statefulset main -n team && kubectl get statefulset main -o yaml -n team > main-saved.yaml && kubectl delete statefulset main --cascade=orphan -n team && " +
		"sed 's/podManagementPolicy: OrderedReady/podManagementPolicy: Parallel/' main-saved.yaml | kubectl create -f - -n team"
	asksHealth := func(versions ...string) func(*Facts) {
		return func(f *Facts) {
			liveness("/health")(f)
			for i, v := range versions {
				f.Survey.Value.Members[i].Version = v
			}
		}
	}
	judge(t, []row{
		{name: "livez", id: "W001", want: OK},
		{name: "health", id: "W001", with: asksHealth(), want: Warning, message: "the liveness probe (GET /health) fails on an alarm or without quorum: the kubelet then restarts the members, which repairs neither", wholeFix: livez},
		{name: "health, and one is silent", id: "W001", with: func(f *Facts) { asksHealth()(f); silent(0)(f) }, want: Warning, wholeFix: "once all members are healthy, " + livez},
		{name: "health, and one has no /livez", id: "W001", with: asksHealth("3.5.11", "3.5.9", "3.5.11"), want: Warning, message: "; etcd 3.5.9 has no /livez, which came with 3.4.29 and 3.5.11", wholeFix: health},
		{name: "health, 3.5.11", id: "W001", with: asksHealth("3.5.11", "3.5.11", "3.5.11"), want: Warning, wholeFix: livez},
		{name: "health, 3.4.28", id: "W001", with: asksHealth("3.4.28", "3.4.28", "3.4.28"), want: Warning, wholeFix: health},
		{name: "health, 3.4.29", id: "W001", with: asksHealth("3.4.29", "3.4.29", "3.4.29"), want: Warning, wholeFix: livez},
		{name: "health, and 3.4.29 becomes 3.5.10", id: "W001", with: asksHealth("3.4.29", "3.4.29", "3.5.10"), want: Warning, message: "etcd 3.5.10 has no /livez", wholeFix: health},
		{name: "health, and the version is not known", id: "W001", with: func(f *Facts) { asksHealth()(f); f.Survey.Err = errRefused }, want: Warning, message: "; the members' version is not known, and /livez came with 3.4.29 and 3.5.11", wholeFix: health},
		{name: "etcdctl, and no /livez", id: "W001", with: func(f *Facts) {
			asksHealth("3.5.9")(f)
			f.StatefulSet.Value.Spec.Template.Spec.Containers[0].LivenessProbe = execProbe("etcdctl", "endpoint", "health")
		}, want: Warning, wholeFix: "use /health?exclude=NOSPACE&serializable=true, which --listen-metrics-urls serves without a certificate: kubectl edit statefulset main -n team"},
		{name: "health without alarms, as kubeadm's", id: "W001", with: liveness("/health?exclude=NOSPACE&serializable=true"), want: OK},
		{name: "health, serializable", id: "W001", with: liveness("/health?serializable=true"), want: Warning},
		{name: "readyz", id: "W001", with: liveness("/readyz"), want: Warning},
		{name: "etcdctl", id: "W001", with: template(func(c *corev1.Container) { c.LivenessProbe = execProbe("/usr/local/bin/etcdctl", "endpoint", "health") }), want: Warning, message: "etcdctl endpoint health"},
		{name: "a script's", id: "W001", with: template(func(c *corev1.Container) {
			c.LivenessProbe = execProbe("sh", "-c", "ETCDCTL_API=3 etcdctl endpoint health")
		}), want: Warning},
		{name: "Bitnami's script", id: "W001", with: func(f *Facts) {
			owners["helm"](f)
			f.StatefulSet.Value.Spec.Template.Spec.Containers[0].LivenessProbe = execProbe("/opt/bitnami/scripts/etcd/healthcheck.sh")
		}, want: Warning, message: "the liveness probe (etcdctl endpoint health by /opt/bitnami/scripts/etcd/healthcheck.sh) fails on an alarm"},
		{name: "a script of the image", id: "W001", with: template(func(c *corev1.Container) { c.LivenessProbe = execProbe("/opt/health.sh") }), want: Unknown, message: "whether the liveness probe fails on an alarm or without quorum: what /opt/health.sh does is not known"},
		{name: "a shell with a script of the image", id: "W001", with: template(func(c *corev1.Container) { c.LivenessProbe = execProbe("sh", "-e", "/opt/health.sh") }), want: Unknown, message: "what /opt/health.sh does"},
		{name: "a tool", id: "W001", with: template(func(c *corev1.Container) { c.LivenessProbe = execProbe("/usr/bin/pgrep", "etcd") }), want: OK},
		{name: "a shell's command", id: "W001", with: template(func(c *corev1.Container) { c.LivenessProbe = execProbe("sh", "-c", "test -e /run/etcd.pid") }), want: OK},
		{name: "endpoint status", id: "W001", with: template(func(c *corev1.Container) { c.LivenessProbe = execProbe("etcdctl", "endpoint", "status") }), want: OK},
		{name: "none", id: "W001", with: template(func(c *corev1.Container) { c.LivenessProbe = nil }), want: OK},
		{name: "an operator's", id: "W001", with: func(f *Facts) { liveness("/health")(f); f.Owner.Distribution = flavour.Druid }, want: Warning, fix: "use /livez"},

		{name: "readyz", id: "W002", want: OK},
		{name: "none", id: "W002", with: template(func(c *corev1.Container) { c.ReadinessProbe = nil }), want: Warning},
		{name: "port", id: "W002", with: template(func(c *corev1.Container) {
			c.ReadinessProbe.ProbeHandler = corev1.ProbeHandler{TCPSocket: &corev1.TCPSocketAction{}}
		}), want: Info},

		{name: "metrics port", id: "W003", want: OK},
		{name: "client port with certificates", id: "W003", with: template(func(c *corev1.Container) { c.ReadinessProbe.HTTPGet.Port = intstr.FromInt32(2379) }), want: Failure, message: "the readiness probe asks the client port, which demands a certificate"},
		{name: "by the port's name", id: "W003", with: template(func(c *corev1.Container) {
			c.Ports = []corev1.ContainerPort{{Name: "client", ContainerPort: 2379}}
			c.ReadinessProbe.HTTPGet.Port = intstr.FromString("client")
		}), want: Failure},

		{name: "requests", id: "W004", want: OK},
		{name: "none", id: "W004", with: template(func(c *corev1.Container) { c.Resources.Requests = nil }), want: Warning, message: "requests no cpu and no memory", fix: "kubectl set resources statefulset main -c etcd --requests=cpu=200m,memory=512Mi -n team"},
		{name: "limits count", id: "W004", with: func(f *Facts) {
			template(func(c *corev1.Container) { delete(c.Resources.Requests, corev1.ResourceMemory) })(f)
			limit("1Gi")(f)
		}, want: OK},
		{name: "CPU limit", id: "W004", with: template(func(c *corev1.Container) {
			c.Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
		}), want: Info},

		{name: "no limit", id: "W005", want: NotApplicable},
		{name: "room", id: "W005", with: limit("1Gi"), want: OK},
		{name: "less than the database", id: "W005", with: limit("40Mi"), want: Warning, fix: "100.0 MiB"},

		{name: "default", id: "W006", want: OK},
		{name: "none", id: "W006", with: func(f *Facts) { f.StatefulSet.Value.Spec.Template.Spec.TerminationGracePeriodSeconds = new(int64) }, want: Warning, message: "0 seconds"},

		{name: "kept", id: "W007", want: OK},
		{name: "bitnami", id: "W007", with: image("bitnami/etcd:3.5.21"), want: Warning, message: "docker.io/bitnami", fix: "bitnamilegacy"},
		{name: "bitnami, in full", id: "W007", with: image("docker.io/bitnami/etcd:3.5.21"), want: Warning},
		{name: "bitnamilegacy", id: "W007", with: image("docker.io/bitnamilegacy/etcd:3.5.21"), want: OK},
		{name: "a mirror", id: "W007", with: image("mirror.local:5000/bitnami/etcd:3.5.21"), want: OK},
		{name: "k8s.gcr.io", id: "W007", with: image("k8s.gcr.io/etcd:3.5.0-0"), want: Warning, fix: "registry.k8s.io/etcd"},
		{name: "k8s.gcr.io, and one is down", id: "W007", with: func(f *Facts) { image("k8s.gcr.io/etcd:3.5.0-0")(f); crashing(f.Pods.Value[0]) }, want: Warning, wholeFix: "once all members are healthy, use registry.k8s.io/etcd: kubectl edit statefulset main -n team"},
		{name: "k8s.gcr.io, and one can't pull it", id: "W007", with: func(f *Facts) {
			image("k8s.gcr.io/etcd:3.5.0-0")(f)
			crashing(f.Pods.Value[0])
			f.Pods.Value[0].Status.ContainerStatuses[0].State.Waiting.Reason = "ImagePullBackOff"
		}, want: Warning, wholeFix: "set the update strategy OnDelete and use registry.k8s.io/etcd, so that no other pod restarts; delete the pods that can't pull their image (main-0), and the others one at a time when all members are healthy: kubectl edit statefulset main -n team"},

		{name: "version", id: "W008", want: OK},
		{name: "latest", id: "W008", with: image("quay.io/coreos/etcd:latest"), want: Warning},
		{name: "none", id: "W008", with: image("mirror.local:5000/etcd"), want: Warning},
		{name: "digest", id: "W008", with: image("quay.io/coreos/etcd@sha256:00"), want: OK},

		{name: "parallel", id: "W009", want: OK},
		{name: "ordered", id: "W009", with: ordered, want: Warning, message: "GET /health", wholeFix: again},
		{name: "ordered, and the first waits for the others", id: "W009", with: func(f *Facts) {
			ordered(f)
			pod(0, unready)(f)
			f.Pods.Value = f.Pods.Value[:1]
		}, want: Failure, wholeFix: again},
		{name: "ordered, and one is silent", id: "W009", with: func(f *Facts) { ordered(f); silent(0)(f) }, want: Warning, wholeFix: "once all members are healthy, " + again},
		{name: "ordered, and an operation is unfinished", id: "W009", with: func(f *Facts) {
			ordered(f)
			f.UnderWay.Value = &output.UnderWay{Operation: "restart", Interrupted: true, Commands: []string{"kubectl etcd restart statefulset/main -n team"}}
		}, want: Warning, wholeFix: "kubectl etcd restart statefulset/main -n team"},
		{name: "ordered, and a chart has it", id: "W009", with: func(f *Facts) { owners["helm"](f); ordered(f) }, want: Warning, fix: "have its StatefulSet created again with podManagementPolicy Parallel in the values of Helm release chart"},
		{name: "ordered, single", id: "W009", size: 1, with: func(f *Facts) {
			f.Owner.Ordered = true
			f.StatefulSet.Value.Spec.PodManagementPolicy = appsv1.OrderedReadyPodManagement
		}, want: OK},

		{name: "none", id: "W010", want: OK},
		{name: "partition", id: "W010", with: rollout(appsv1.StatefulSetUpdateStrategy{RollingUpdate: &appsv1.RollingUpdateStatefulSetStrategy{Partition: new(int32(2))}}), want: Warning, message: "2 pods don't run the current template: partition 2", fix: `{"partition":0}`},
		{name: "partition, and a member is down", id: "W010", with: func(f *Facts) { two(f); crashing(f.Pods.Value[0]) }, want: Warning, fix: "once all members are healthy, kubectl patch statefulset main"},
		{name: "partition that etcd-webhook holds", id: "W010", with: func(f *Facts) { two(f); held("partition=2")(f) }, want: Info, message: "etcd-webhook holds the rollout (MemberDown)", fix: "kubectl etcd status statefulset/main -n team"},
		{name: "partition that etcd-webhook held before it was deleted", id: "W010", with: func(f *Facts) { two(f); held("partition=2")(f); f.Installed.Value = false }, want: Warning, message: "is not installed any more, so nothing continues it", fix: `kubectl patch statefulset main --type=merge -p '{"metadata":{"annotations":{"kubectl-etcd.dev/rollout-author":null,`},
		{name: "the same, and a member is down", id: "W010", with: func(f *Facts) { two(f); held("partition=2")(f); f.Installed.Value = false; crashing(f.Pods.Value[0]) }, want: Warning, fix: "once all members are healthy, kubectl patch statefulset main"},
		{name: "partition that etcd-webhook holds, if it is installed", id: "W010", with: func(f *Facts) { two(f); held("partition=2")(f); f.Installed.Err = ErrNotGathered }, want: Info},
		{name: "partition, and a record of another", id: "W010", with: func(f *Facts) { two(f); held("partition=3")(f) }, want: Warning, fix: `{"partition":0}`},
		{name: "OnDelete of a replacement", id: "W010", with: func(f *Facts) {
			rollout(appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType})(f)
			f.UnderWay.Value = &output.UnderWay{Operation: "member replace"}
		}, want: Info, message: "while kubectl etcd member replace is under way", fix: "kubectl etcd status statefulset/main -n team"},
		{name: "OnDelete", id: "W010", with: rollout(appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType}), want: Warning, fix: "kubectl etcd restart statefulset/main -n team"},
		{name: "OnDelete, which is the rollout under way", id: "W010", with: func(f *Facts) {
			rollout(appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType})(f)
			f.Cluster.Value.Cluster.Operation = "rollout, 1 of 3 members updated"
		}, want: Warning, wholeFix: "kubectl etcd restart statefulset/main -n team"},
		{name: "OnDelete, and one is down", id: "W010", with: func(f *Facts) {
			rollout(appsv1.StatefulSetUpdateStrategy{Type: appsv1.OnDeleteStatefulSetStrategyType})(f)
			silent(1)(f)
		}, want: Warning, wholeFix: "once all members are voters and healthy, kubectl etcd restart statefulset/main -n team"},
		{name: "no hook", id: "W011", want: OK},
		{name: "a hook that removes", id: "W011", with: changesMembers(etcdconf.MemberChange{Container: "etcd", Hook: "preStop", Verb: "remove"}), want: Warning,
			message: "the preStop hook of container etcd has etcdctl member remove", fix: "set the update strategy OnDelete and take etcdctl member remove out of the preStop hook of container etcd; then delete the pods one at a time: each runs the old hook when it stops, so wait until it is a member again, or replace it: kubectl edit statefulset main -n team"},
		{name: "a hook that perhaps removes", id: "W011", with: changesMembers(etcdconf.MemberChange{Container: "etcd", Hook: "preStop", Verb: "remove", Perhaps: true}), want: Warning,
			message: "the preStop hook of container etcd has etcdctl member remove, on some of its ways or all: an eviction, a restart or a rollout may take a voter out of etcd"},
		{name: "a hook that can't be read", id: "W011", with: changesMembers(etcdconf.MemberChange{Container: "etcd", Hook: "preStop", Unread: "/scripts/leave.sh: ConfigMap s does not exist"}), want: Unknown,
			message: "whether the preStop hook of container etcd removes the member: it has a script that can't be read: /scripts/leave.sh: ConfigMap s does not exist"},
		{name: "a start script that can't be read", id: "W011", with: changesMembers(etcdconf.MemberChange{Container: "etcd", Unread: "/scripts/start.sh: ConfigMap s does not exist"}), want: OK},
		{name: "Bitnami's hook", id: "W011", with: func(f *Facts) {
			owners["helm"](f)
			f.StatefulSet.Value.Spec.Template.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{"/opt/bitnami/scripts/etcd/prestop.sh"}}}}
			changesMembers(etcdconf.MemberChange{Container: "etcd", Hook: "preStop", Unread: "/opt/bitnami/scripts/etcd/prestop.sh: only the image has it"})(f)
		}, want: Warning, message: "the preStop hook of container etcd runs /opt/bitnami/scripts/etcd/prestop.sh, which removes the member: each eviction", fix: "in the values of Helm release chart"},
		{name: "a script that removes", id: "W011", with: changesMembers(etcdconf.MemberChange{Container: "etcd", Verb: "remove"}), want: OK},
		{name: "a hook that adds", id: "W011", with: changesMembers(etcdconf.MemberChange{Container: "etcd", Hook: "postStart", Verb: "add"}), want: OK},

		{name: "rolling", id: "W010", with: rollout(appsv1.StatefulSetUpdateStrategy{}), want: Info},
	})
}

// countsFive makes the budget count five voters, as before two members were removed with their pods.
func countsFive(f *Facts) {
	f.Cluster.Value.Cluster.Target, f.Cluster.Value.Cluster.Namespace = "statefulset/main", "team"
	f.Cluster.Value.Cluster.Size, f.Cluster.Value.Cluster.Lost = 5, 2
	f.Selecting.Value[0].Annotations = map[string]string{v1alpha1.BudgetReasonAnnotation: policy.MemberDown.Name()}
	f.Selecting.Value[0].Status.DisruptionsAllowed = 0
}

// druid makes the cluster an Etcd with a store and fresh conditions.
func druid(change func(*druidv1alpha1.Etcd)) func(*Facts) {
	return func(f *Facts) {
		f.Owner.WorkloadKind, f.Owner.Distribution, f.Owner.Kind = owner.DruidStatefulSet, flavour.Druid, "Etcd"
		schedule := "0 0 * * *"
		e := &druidv1alpha1.Etcd{ObjectMeta: metav1.ObjectMeta{Name: "main", Generation: 2}}
		e.Spec.Backup = druidv1alpha1.BackupSpec{
			Store: &druidv1alpha1.StoreSpec{}, FullSnapshotSchedule: &schedule, DeltaSnapshotPeriod: &metav1.Duration{Duration: 5 * time.Minute},
		}
		e.Status.ObservedGeneration = new(int64(2))
		e.Status.LastOperation = &druidcommon.LastOperation{Type: druidv1alpha1.LastOperationTypeReconcile, State: druidv1alpha1.LastOperationStateSucceeded}
		for _, kind := range []druidv1alpha1.ConditionType{druidv1alpha1.ConditionTypeReady, druidv1alpha1.ConditionTypeAllMembersReady} {
			e.Status.Conditions = append(e.Status.Conditions, druidv1alpha1.Condition{Type: kind, Status: druidv1alpha1.ConditionTrue, LastUpdateTime: metav1.NewTime(noon.Add(-10 * time.Second))})
		}
		f.Etcd.Value = e
		f.Cluster.Value.Cluster.BackupReady = policy.Condition{Status: policy.True, Reason: "BackupSucceeded"}
		f.Leases.Value = []coordinationv1.Lease{lease("main-full-snap", 3*time.Hour), lease("main-delta-snap", time.Minute)}
		if change != nil {
			change(e)
		}
	}
}

func lease(name string, age time.Duration) coordinationv1.Lease {
	return coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       coordinationv1.LeaseSpec{RenewTime: &metav1.MicroTime{Time: noon.Add(-age)}, HolderIdentity: new("ann@laptop")},
	}
}

func TestBackups(t *testing.T) {
	t.Parallel()
	condition := func(c policy.Condition) func(*Facts) {
		return func(f *Facts) { druid(nil)(f); f.Cluster.Value.Cluster.BackupReady = c }
	}
	leases := func(full, delta time.Duration) func(*Facts) {
		return func(f *Facts) {
			druid(nil)(f)
			f.Leases.Value = []coordinationv1.Lease{lease("main-full-snap", full), lease("main-delta-snap", delta)}
		}
	}
	judge(t, []row{
		{name: "known", id: "R001", with: druid(nil), want: OK},
		{name: "no store", id: "R001", with: func(f *Facts) {
			druid(func(e *druidv1alpha1.Etcd) { e.Spec.Backup.Store = nil })(f)
			f.Cluster.Value.Cluster.BackupReady = policy.Condition{}
		}, want: Warning, fix: "spec.backup.store"},
		{name: "not readable", id: "R001", with: func(f *Facts) {
			druid(func(e *druidv1alpha1.Etcd) { *e = druidv1alpha1.Etcd{} })(f)
			f.Cluster.Value.Cluster.BackupReady = policy.Condition{}
			f.Etcd.Err = errRefused
		}, want: Unknown, fix: "-"},
		{name: "not reported yet", id: "R001", with: condition(policy.Condition{}), want: Unknown},
		{name: "plain", id: "R001", want: Warning, fix: "kubectl annotate --overwrite statefulset/main kubectl-etcd.dev/backup-lease=LEASE"},

		{name: "kubeadm's", id: "R001", with: kubeadm, want: Info, fix: "-"},

		{name: "succeed", id: "R002", with: druid(nil), want: OK},
		{name: "fail", id: "R002", with: condition(policy.Condition{Status: policy.False, Reason: "BackupFailed"}), want: Failure, message: "False (BackupFailed)", fix: "kubectl etcd snapshot save etcd/main --via backup-restore -n team"},
		{name: "unknown", id: "R002", with: condition(policy.Condition{Status: policy.Unknown, Reason: "Unknown"}), want: Warning},
		{name: "stale", id: "R002", with: condition(policy.Condition{Status: policy.True, Age: time.Hour}), want: Unknown, message: "1h00m ago"},
		{name: "absent", id: "R002", want: NotApplicable},

		{name: "recent", id: "R003", with: druid(nil), want: OK, message: "full 3h00m ago, delta 1m00s ago"},
		{name: "old full", id: "R003", with: leases(30*time.Hour, time.Minute), want: Warning, message: "30h00m old"},
		{name: "old full, weekly", id: "R003", with: func(f *Facts) {
			leases(30*time.Hour, time.Minute)(f)
			*f.Etcd.Value.Spec.Backup.FullSnapshotSchedule = "0 0 * * 0"
		}, want: OK},
		{name: "old delta", id: "R003", with: leases(time.Hour, 17*time.Minute), want: Failure, message: "17m00s old, and one is due every 5m00s"},
		{name: "late delta", id: "R003", with: leases(time.Hour, 15*time.Minute), want: OK},
		{name: "never", id: "R003", with: func(f *Facts) { druid(nil)(f); f.Leases.Value = nil }, want: Warning, message: "no full snapshot"},
		{name: "not readable", id: "R003", with: func(f *Facts) {
			druid(func(e *druidv1alpha1.Etcd) { *e = druidv1alpha1.Etcd{} })(f)
			f.Etcd.Err = errRefused
		}, want: Unknown},
		{name: "plain", id: "R003", want: NotApplicable},
	})
}

func TestOperator(t *testing.T) {
	t.Parallel()
	annotated := func(key, value string) func(*Facts) {
		return druid(func(e *druidv1alpha1.Etcd) { metav1.SetMetaDataAnnotation(&e.ObjectMeta, key, value) })
	}
	suspended := func(f *Facts) {
		annotated(druidv1alpha1.SuspendEtcdSpecReconcileAnnotation, "")(f)
		f.Etcd.Value.Annotations[druidv1alpha1.DruidOperationAnnotation] = druidv1alpha1.DruidOperationReconcile
		f.Etcd.Value.Generation = 3
	}
	judge(t, []row{
		{name: "current", id: "O001", with: druid(nil), want: OK},
		{name: "behind", id: "O001", with: druid(func(e *druidv1alpha1.Etcd) { e.Generation = 3 }), want: Warning, message: "generation 3, druid has reconciled 2", fix: "kubectl annotate etcd/main druid.gardener.cloud/operation=reconcile -n team"},
		{name: "asked to", id: "O001", with: func(f *Facts) {
			annotated(druidv1alpha1.DruidOperationAnnotation, "reconcile")(f)
			f.Etcd.Value.Generation = 3
		}, want: Info},
		{name: "behind, and suspended", id: "O001", with: suspended, want: Warning, fix: "kubectl annotate etcd/main druid.gardener.cloud/suspend-etcd-spec-reconcile- -n team"},
		{name: "behind, and suspended by a cut", id: "O001", with: func(f *Facts) { suspended(f); f.Cluster.Value.Cluster.TrafficCut = true }, want: Warning, fix: "kubectl etcd restore-client-traffic etcd/main -n team"},
		{name: "never", id: "O001", with: druid(func(e *druidv1alpha1.Etcd) { e.Status.ObservedGeneration = nil }), want: Warning},
		{name: "plain", id: "O001", want: NotApplicable},

		{name: "no", id: "O002", with: druid(nil), want: OK},
		{name: "suspended", id: "O002", with: annotated(druidv1alpha1.SuspendEtcdSpecReconcileAnnotation, ""), want: Warning, fix: "kubectl annotate etcd/main druid.gardener.cloud/suspend-etcd-spec-reconcile- -n team"},
		{name: "suspended for a cut", id: "O002", with: func(f *Facts) {
			annotated(druidv1alpha1.SuspendEtcdSpecReconcileAnnotation, "")(f)
			f.Cluster.Value.Cluster.TrafficCut = true
		}, want: Info},

		{name: "succeeded", id: "O003", with: druid(nil), want: OK, message: "Reconcile Succeeded"},
		{name: "failed", id: "O003", with: druid(func(e *druidv1alpha1.Etcd) {
			e.Status.LastOperation.State, e.Status.LastOperation.LastUpdateTime = druidv1alpha1.LastOperationStateError, metav1.NewTime(noon.Add(-time.Minute))
			e.Status.LastErrors = []druidcommon.LastError{{Code: "ERR_SYNC", Description: "no"}}
		}), want: Failure, message: "Reconcile failed 1m00s ago: ERR_SYNC: no"},

		{name: "fresh", id: "O004", with: druid(nil), want: OK, message: "at most 10s old"},
		{name: "old", id: "O004", with: druid(func(e *druidv1alpha1.Etcd) {
			e.Status.Conditions[1].LastUpdateTime = metav1.NewTime(noon.Add(-3 * time.Minute))
		}), want: Warning, message: "AllMembersReady was last confirmed up to 3m00s ago"},

		{name: "good", id: "O005", with: druid(nil), want: OK},
		{name: "bad", id: "O005", with: druid(func(e *druidv1alpha1.Etcd) { e.Status.Conditions[1].Status = druidv1alpha1.ConditionFalse }), want: Failure, message: "AllMembersReady is False"},
		{name: "bad and old", id: "O005", with: druid(func(e *druidv1alpha1.Etcd) {
			e.Status.Conditions[1].Status, e.Status.Conditions[1].LastUpdateTime = druidv1alpha1.ConditionFalse, metav1.NewTime(noon.Add(-time.Hour))
		}), want: OK},
		{name: "mismatch is good when False", id: "O005", with: druid(func(e *druidv1alpha1.Etcd) {
			e.Status.Conditions[0].Type, e.Status.Conditions[0].Status = druidv1alpha1.ConditionTypeClusterIDMismatch, druidv1alpha1.ConditionFalse
		}), want: OK},

		{name: "protected", id: "O006", with: druid(nil), want: OK},
		{name: "unprotected", id: "O006", with: annotated(druidv1alpha1.DisableEtcdComponentProtectionAnnotation, ""), want: Warning},
	})
}

func TestTraffic(t *testing.T) {
	t.Parallel()
	cut := func(value string) func(*Facts) {
		return func(f *Facts) { f.Services.Value[0].Spec.Selector[v1alpha1.ClientTrafficKey] = value }
	}
	second := func(f *Facts) {
		f.Services.Value = append(f.Services.Value, corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "main-1"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "main"}}})
	}
	locked := func(u output.UnderWay) func(*Facts) {
		renewed := metav1.NewTime(noon.Add(-5 * time.Minute))
		u.Operation, u.Holder, u.Renewed = "scale", "ann@laptop", &renewed
		return func(f *Facts) { f.UnderWay.Value = &u }
	}
	judge(t, []row{
		{name: "open", id: "T001", want: OK},
		{name: "cut", id: "T001", with: cut(observe.CutValue(noon.Add(10 * time.Minute))), want: Warning, message: "cut off for another 10m00s", fix: "kubectl etcd restore-client-traffic statefulset/main -n team"},
		{name: "expired", id: "T001", with: cut(observe.CutValue(noon.Add(-10 * time.Minute))), want: Failure, message: "the cut ended 10m00s ago"},
		{name: "about to be restored", id: "T001", with: cut(observe.CutValue(noon.Add(-30 * time.Second))), want: Warning, message: "the cut ended 30s ago, and etcd-webhook restores the traffic within a minute if it runs"},
		{name: "nothing restores it", id: "T001", with: func(f *Facts) { cut(observe.CutValue(noon.Add(-30 * time.Second)))(f); f.Installed.Value = false }, want: Failure, message: "nothing restores the traffic"},
		{name: "not readable", id: "T001", with: cut("for-ever"), want: Failure, message: "clients are cut off without an end"},

		{name: "one", id: "T002", want: OK, message: "main-client"},
		{name: "also another's", id: "T002", with: func(f *Facts) {
			others := []discoveryv1.Endpoint{{TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: "other-0"}}, {TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: "main-0"}}, {}}
			f.Slices.Value[0].Endpoints = append(f.Slices.Value[0].Endpoints, others...)
		}, want: Warning, message: "Service main-client leads to other-0 as well", fix: "narrow the selector of Service main-client"},
		{name: "headless only", id: "T002", with: func(f *Facts) { f.Services.Value = nil }, want: Info},

		{name: "ready", id: "T003", want: OK},
		{name: "none", id: "T003", with: func(f *Facts) { f.Slices.Value[0].Endpoints = nil }, want: Failure, message: "main-client has no ready endpoint"},
		{name: "none ready", id: "T003", with: func(f *Facts) { f.Slices.Value[0].Endpoints[0].Conditions.Ready = new(bool) }, want: Failure},
		{name: "none of one Service of two", id: "T003", with: second, want: Warning, message: "Service main-1 has no ready endpoint: no client reaches a member through it", fix: "kubectl get endpointslices -l kubernetes.io/service-name=main-1 -n team"},
		{name: "none of one, and the other is cut", id: "T003", with: func(f *Facts) { second(f); cut("cut-until-1")(f) }, want: Failure},
		{name: "none of two Services", id: "T003", with: func(f *Facts) { second(f); f.Slices.Value = nil }, want: Failure, message: "Service main-client has no ready endpoint: no client reaches a member through it"},
		{name: "cut", id: "T003", with: func(f *Facts) { cut("cut-until-1")(f); f.Slices.Value = nil }, want: NotApplicable},

		{name: "all", id: "T004", want: OK},
		{name: "Ready only", id: "T004", with: func(f *Facts) { f.Peer.Value.Service.Spec.PublishNotReadyAddresses = false }, want: Warning, fix: `kubectl patch service main --type=merge -p '{"spec":{"publishNotReadyAddresses":true}}' -n team`},
		{name: "Ready only, and clients use it", id: "T004", with: func(f *Facts) { f.Peer.Value.Service.Spec = corev1.ServiceSpec{ClusterIP: "10.96.0.9"} }, want: Warning, fix: "clients may use Service main as well, so give the peer URLs names in a headless Service"},
		{name: "gone", id: "T004", with: func(f *Facts) { f.Peer.Value.Service = nil }, want: Warning, message: "Service main does not exist", fix: "create the headless Service main, which the StatefulSet names"},
		{name: "none, or not the peers'", id: "T004", with: func(f *Facts) { f.Peer.Value = memberservices.PeerService{} }, want: NotApplicable},
		{name: "gone, of a single member", id: "T004", size: 1, with: func(f *Facts) { f.Peer.Value.Service = nil }, want: NotApplicable},

		{name: "installed", id: "G001", want: OK},
		{name: "not installed", id: "G001", with: func(f *Facts) { f.Installed.Value = false }, want: Info},
		{name: "none", id: "G002", want: Info},
		{name: "one", id: "G002", with: func(f *Facts) {
			f.Policy.Value.Policy = &v1alpha1.EtcdTopologyPolicy{ObjectMeta: metav1.ObjectMeta{Name: "all"}, Spec: v1alpha1.EtcdTopologyPolicySpec{Mode: v1alpha1.ModeWarn}}
		}, want: OK, message: "all, mode Warn"},
		{name: "only mounts show etcd", id: "G002", with: func(f *Facts) {
			f.Policy.Value, f.Owner.Mounted = topologypolicy.Match{Unrecognised: "default"}, "db"
		}, want: Warning, message: "policy default does not apply", fix: "kubectl annotate statefulset main kubectl-etcd.dev/etcd=db -n team"},
		{name: "etcds of their own", id: "G002", with: func(f *Facts) { f.Policy.Value = topologypolicy.Match{Separate: "default"} }, want: Info, message: "policy default does not apply, because each pod lists only itself"},
		{name: "conflict", id: "G002", with: func(f *Facts) { f.Policy.Value.Conflict = []string{"a", "b"} }, want: Warning, message: "a and b have the same priority", fix: `kubectl patch etcdtopologypolicy a --type=merge -p '{"spec":{"priority":1}}'`},
		{name: "conflict above others", id: "G002", with: func(f *Facts) {
			f.Policy.Value.Conflict = []string{"a", "b"}
			f.Policy.Value.Tied = []*v1alpha1.EtcdTopologyPolicy{{Spec: v1alpha1.EtcdTopologyPolicySpec{Priority: 10}}}
		}, want: Warning, fix: `{"spec":{"priority":11}}`},
		{name: "quiet", id: "G003", want: OK},
		{name: "scaling", id: "G003", with: scaling, want: Info, message: "scale from 3 to 5"},
		{name: "locked", id: "G003", with: locked(output.UnderWay{}), want: Info, message: "scale by ann@laptop"},
		{name: "stopped all members", id: "G003", with: func(f *Facts) {
			locked(output.UnderWay{Interrupted: true})(f)
			f.Owner.Replicas, f.KeepsClientsAway = 0, true
		}, want: Failure, message: "has stopped all members"},
		{name: "left locked", id: "G003", with: locked(output.UnderWay{Interrupted: true}), want: Warning, message: "scale by ann@laptop stopped 5m00s ago before it ended"},
		{name: "left locked without a journal", id: "G003", with: func(f *Facts) { locked(output.UnderWay{Interrupted: true})(f); f.Unrecorded = true }, want: Info, message: "it left nothing to continue"},
		{name: "left locked without a journal, and a claim is being deleted", id: "G003", with: func(f *Facts) {
			locked(output.UnderWay{Interrupted: true})(f)
			f.Unrecorded, f.Claims.Value = true, []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{Time: noon}}}}
		}, want: Warning, message: "stopped 5m00s ago"},
		{name: "a restart, interrupted", id: "G003", with: func(f *Facts) {
			f.UnderWay.Value = &output.UnderWay{Operation: "restart", Interrupted: true}
		}, want: Warning, message: "kubectl etcd restart was interrupted: continue it or end it"},
		{name: "half done", id: "G003", with: locked(output.UnderWay{Interrupted: true, Change: "scale from 3 to 5 members"}), want: Warning, message: "kubectl etcd scale was interrupted and is half done"},
	})
}

// TestSpeaksForTheUsersContext puts the user's own flags behind every command.
func TestSpeaksForTheUsersContext(t *testing.T) {
	t.Parallel()
	f := healthy(4)
	f.Flags, f.Login = " --context prod", " --user-secret login --direct"
	member(1, func(m *etcd.Member) { m.Alarms = []string{"NOSPACE"} })(f)
	if got, want := alarms(f)[0].Fix, "kubectl etcd defrag statefulset/main -n team --context prod --user-secret login --direct"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := f.kubectl("get pods"), "kubectl get pods -n team --context prod"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// changesMembers has the pods change the member list themselves.
func changesMembers(all ...etcdconf.MemberChange) func(*Facts) {
	return func(f *Facts) { f.Owner.MemberChanges = all }
}
