// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"context"
	"fmt"
	"slices"
	"strings"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/queue"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/watch"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/scrape"
)

// The most budgets of a namespace that are listed for an event of a pod, and the most recorded ones of these
// whose selectors are parsed.
const (
	budgetsListed     = 1000
	budgetsConsidered = 100
)

// keys are the clusters to reconcile after a change of an object.
type keys = []owner.Key

// SetupWithManager starts the reconciler on the leader. It watches everything that a
// budget depends on.
func (b *Reconciler) SetupWithManager(mgr ctrl.Manager) error {
	if err := scrape.Register(Collectors()...); err != nil {
		return err
	}
	c, err := controller.NewTyped("disruption-budget", mgr, controller.TypedOptions[owner.Key]{
		Reconciler:              b,
		RateLimiter:             queue.Backoff[owner.Key](),
		NewQueue:                queue.OfClusters,
		MaxConcurrentReconciles: 4,
	})
	if err != nil {
		return err
	}
	from := mgr.GetCache()
	for _, s := range []source.TypedSource[owner.Key]{
		watch.Clusters(from, &appsv1.StatefulSet{}, b.ofStatefulSet, anyChange[*appsv1.StatefulSet]()),
		watch.Clusters(from, &corev1.Pod{}, b.ofPod, podChanged()),
		watch.Clusters(from, &coordinationv1.Lease{}, b.ofLease, b.leaseChanged()),
		watch.Clusters(from, &policyv1.PodDisruptionBudget{}, b.ofBudget, budgetChanged()),
		watch.Clusters(from, &corev1.Service{}, b.ofService, watch.TrafficChanged()),
		watch.Clusters(from, &corev1.Namespace{}, b.ofNamespace, watch.MetaOrSpecChanged[*corev1.Namespace]()),
		watch.Clusters(from, &v1alpha1.EtcdTopologyPolicy{}, b.ofPolicy, watch.MetaOrSpecChanged[*v1alpha1.EtcdTopologyPolicy]()),
	} {
		if err := c.Watch(s); err != nil {
			return fmt.Errorf("watch for budgets: %w", err)
		}
	}
	if err := mgr.Add(manager.RunnableFunc(func(ctx context.Context) error { return b.watchNodes(ctx, mgr, c) })); err != nil {
		return err
	}
	return mgr.Add(&watch.Etcds{Mapper: mgr.GetRESTMapper(), Begin: func() error {
		return c.Watch(watch.Clusters(from, &druidv1alpha1.Etcd{}, b.ofEtcd, etcdChanged()))
	}})
}

func (b *Reconciler) ofEtcd(_ context.Context, etcd *druidv1alpha1.Etcd) keys {
	return keys{{Kind: "Etcd", Namespace: etcd.Namespace, Name: etcd.Name}}
}

// ofStatefulSet maps a StatefulSet to its owner's key, and to its own key in case it
// was the owner before.
func (b *Reconciler) ofStatefulSet(ctx context.Context, sts *appsv1.StatefulSet) keys {
	own := keys{{Kind: "StatefulSet", Namespace: sts.Namespace, Name: sts.Name}}
	if ref, ofDruid := owner.EtcdOf(sts); ofDruid {
		return append(own, owner.Key{Kind: "Etcd", Namespace: sts.Namespace, Name: ref.Name})
	}
	o, found, err := b.Reader.OwnerOfStatefulSet(ctx, sts)
	if err == nil && !found {
		// It may have been declared to run no etcd. Its budget is held, and released later.
		return b.recorded(ctx, own)
	}
	// Without this one, another one leads the cluster.
	for _, w := range o.Workloads {
		own = append(own, owner.Key{Kind: "StatefulSet", Namespace: sts.Namespace, Name: w.Name})
	}
	return append(own, b.listedBy(ctx, sts)...)
}

// listedBy returns the clusters that a StatefulSet lists and that do not list it: whether its members are
// ready counts there.
func (b *Reconciler) listedBy(ctx context.Context, sts *appsv1.StatefulSet) keys {
	listed, err := b.Reader.ListedBy(ctx, sts)
	if err != nil {
		log.FromContext(ctx).Error(err, "cannot list etcd clusters", "namespace", sts.Namespace)
	}
	return listed
}

// recorded returns those of some keys of one namespace that a budget is recorded for.
func (b *Reconciler) recorded(ctx context.Context, some keys) keys {
	var out keys
	for _, budget := range b.budgetsIn(ctx, some[0].Namespace) {
		for _, key := range recordedFor(&budget) {
			if slices.Contains(some, key) && !slices.Contains(out, key) {
				out = append(out, key)
			}
		}
	}
	return out
}

// ofPod maps a member's pod to its cluster, and any other pod to the clusters whose
// budget counts it.
func (b *Reconciler) ofPod(ctx context.Context, pod *corev1.Pod) keys {
	owner, found, err := b.Reader.OwnerOfPod(ctx, pod)
	if found {
		return keys{owner.Key()}
	}
	if err != nil {
		log.FromContext(ctx).Error(err, "cannot find the cluster of a pod", "namespace", pod.Namespace, "pod", pod.Name)
	}
	return b.countedBy(ctx, pod)
}

// countedBy returns the clusters whose recorded budgets select a pod. It runs for each event of a pod, before
// those of other namespaces, so it considers few of many budgets. When the disruption controller has counted the
// pod, the event of the budget wakes the same clusters.
func (b *Reconciler) countedBy(ctx context.Context, pod *corev1.Pod) keys {
	var out keys
	considered := 0
	for _, budget := range b.budgetsIn(ctx, pod.Namespace, client.Limit(budgetsListed)) {
		of := recordedFor(&budget)
		if len(of) == 0 || slices.Contains(out, of[0]) {
			continue
		}
		if considered++; considered > budgetsConsidered {
			break
		}
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err == nil && selector.Matches(labels.Set(pod.Labels)) {
			out = append(out, of...)
		}
	}
	return out
}

func (b *Reconciler) ofLease(_ context.Context, lease *coordinationv1.Lease) keys {
	if ref, ofDruid := owner.EtcdOf(lease); ofDruid {
		return keys{{Kind: "Etcd", Namespace: lease.Namespace, Name: ref.Name}}
	}
	return nil
}

// ofBudget maps a budget to all clusters of its namespace, because its selector may have changed.
func (b *Reconciler) ofBudget(ctx context.Context, pdb *policyv1.PodDisruptionBudget) keys {
	return append(recordedFor(pdb), b.owners(ctx, client.InNamespace(pdb.Namespace))...)
}

func (b *Reconciler) ofService(ctx context.Context, service *corev1.Service) keys {
	return b.owners(ctx, client.InNamespace(service.Namespace))
}

func (b *Reconciler) ofNamespace(ctx context.Context, ns *corev1.Namespace) keys {
	return b.owners(ctx, client.InNamespace(ns.Name))
}

func (b *Reconciler) ofPolicy(ctx context.Context, _ *v1alpha1.EtcdTopologyPolicy) keys {
	return b.owners(ctx)
}

func (b *Reconciler) owners(ctx context.Context, in ...client.ListOption) keys {
	owners, err := b.Reader.Owners(ctx, in...)
	if err != nil {
		// Each cluster is reconciled again later without this event.
		log.FromContext(ctx).Error(err, "cannot list etcd clusters")
		return nil
	}
	var out keys
	for _, o := range owners {
		out = append(out, o.Key())
	}
	return out
}

func (b *Reconciler) budgetsIn(ctx context.Context, namespace string, opts ...client.ListOption) []policyv1.PodDisruptionBudget {
	var list policyv1.PodDisruptionBudgetList
	if err := b.Reader.List(ctx, &list, append(opts, client.InNamespace(namespace), client.UnsafeDisableDeepCopy)...); err != nil {
		log.FromContext(ctx).Error(err, "cannot list disruption budgets", "namespace", namespace)
	}
	return list.Items
}

// recordedFor returns the owner that a budget's record names, if any.
func recordedFor(pdb *policyv1.PodDisruptionBudget) keys {
	kind, name, ok := strings.Cut(pdb.Annotations[v1alpha1.BudgetForAnnotation], "/")
	if !ok {
		return nil
	}
	return keys{{Kind: kind, Namespace: pdb.Namespace, Name: name}}
}
