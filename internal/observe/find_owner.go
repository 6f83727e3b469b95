// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"errors"
	"fmt"
	"slices"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
)

// OwnerOfPod returns the cluster that a pod is a member of, by the StatefulSet that controls or has released it.
// It returns false for a pod that is no member: no StatefulSet made it, or the StatefulSet doesn't run
// etcd or is gone.
func (r *Reader) OwnerOfPod(ctx context.Context, pod *corev1.Pod) (owner.Owner, bool, error) {
	if owner.IsReleased(pod) {
		return r.OwnerOfPodNamed(ctx, pod.Namespace, pod.Name)
	}
	ref := metav1.GetControllerOf(pod)
	if ref == nil || ref.Kind != "StatefulSet" || owner.GroupOf(ref) != appsv1.GroupName {
		return owner.Owner{}, false, nil
	}
	var sts appsv1.StatefulSet
	found, err := r.fetchOwner(ctx, pod.Namespace, ref, &sts)
	if err != nil {
		return owner.Owner{}, false, fmt.Errorf("observe StatefulSet %s/%s: %w", pod.Namespace, ref.Name, err)
	}
	if !found {
		return owner.Owner{}, false, nil
	}
	countPod(&sts, pod)
	return r.OwnerOfStatefulSet(ctx, &sts)
}

// countPod raises the replicas of a StatefulSet that the cache has from before it was scaled out: a
// pod beyond them proves that there are more.
func countPod(sts *appsv1.StatefulSet, pod *corev1.Pod) {
	alone := owner.OfStatefulSet(sts)
	at := alone.Ordinal(pod.Name)
	if at >= int(alone.Replicas) && at < owner.MaxMembersRead && pod.DeletionTimestamp == nil {
		sts.Spec.Replicas = new(int32(at + 1)) //nolint:gosec // it is below owner.MaxMembersRead
	}
}

// Joined reports whether the workload that a key names is part of a cluster with another key.
func (r *Reader) Joined(ctx context.Context, key owner.Key) (bool, error) {
	var sts appsv1.StatefulSet
	if key.Kind != "StatefulSet" {
		return false, nil
	}
	found, err := r.Fetch(ctx, key.Namespace, key.Name, &sts)
	if err != nil || !found {
		return false, err
	}
	owner, found, err := r.OwnerOfStatefulSet(ctx, &sts)
	return found && owner.Spans() && owner.Key() != key, err
}

// OwnerOfStatefulSet returns the cluster that a StatefulSet runs, alone or with others. It returns
// false where it runs no etcd, or its Etcd is gone.
func (r *Reader) OwnerOfStatefulSet(ctx context.Context, sts *appsv1.StatefulSet) (owner.Owner, bool, error) {
	ref, ofDruid := owner.EtcdOf(sts)
	if !ofDruid {
		o, ok := r.Standalone(ctx, sts)
		if !ok {
			return owner.Owner{}, false, nil
		}
		o, err := r.WithPeers(ctx, sts, o)
		return o, err == nil, err
	}
	var etcd druidv1alpha1.Etcd
	from := r
	if r.Missing.Has(sts.Namespace, ref) {
		from = &Reader{Reader: r.Reader}
	}
	found, err := from.Fetch(ctx, sts.Namespace, ref.Name, &etcd)
	if err != nil {
		return owner.Owner{}, false, fmt.Errorf("observe Etcd %s/%s: %w", sts.Namespace, ref.Name, err)
	}
	if !found && from.Live != nil {
		r.Missing.Add(sts.Namespace, ref)
	}
	if !found || etcdconf.DeniesEtcd(&etcd) {
		return owner.Owner{}, false, nil
	}
	return owner.OfEtcd(&etcd, sts), true, nil
}

// OwnerOfEtcd reads the cluster of an Etcd. It returns false where the Etcd doesn't exist.
func (r *Reader) OwnerOfEtcd(ctx context.Context, key types.NamespacedName) (owner.Owner, bool, error) {
	var etcd druidv1alpha1.Etcd
	if found, err := r.Fetch(ctx, key.Namespace, key.Name, &etcd); err != nil || !found || etcdconf.DeniesEtcd(&etcd) {
		return owner.Owner{}, false, err
	}
	var sts appsv1.StatefulSet
	found, err := r.Fetch(ctx, key.Namespace, druidv1alpha1.GetStatefulSetName(etcd.ObjectMeta), &sts)
	if err != nil {
		return owner.Owner{}, false, err
	}
	if ref := metav1.GetControllerOf(&sts); !found || ref == nil || ref.UID != etcd.UID {
		return owner.OfEtcd(&etcd, nil), true, nil
	}
	return owner.OfEtcd(&etcd, &sts), true, nil
}

// Owner reads the owner with a key. It returns false where there is none, and where a StatefulSet
// of that name runs no etcd or is the workload of another owner.
func (r *Reader) Owner(ctx context.Context, key owner.Key) (owner.Owner, bool, error) {
	if key.Kind == owner.EtcdKind.Kind {
		return r.OwnerOfEtcd(ctx, types.NamespacedName{Namespace: key.Namespace, Name: key.Name})
	}
	var sts appsv1.StatefulSet
	found, err := r.Fetch(ctx, key.Namespace, key.Name, &sts)
	if err != nil {
		return owner.Owner{}, false, fmt.Errorf("observe %s: %w", key, err)
	}
	if !found {
		return owner.Owner{}, false, nil
	}
	owner, found, err := r.OwnerOfStatefulSet(ctx, &sts)
	return owner, found && owner.Key() == key, err
}

// Former returns the cluster that the workload with a key ran until it was declared to run no etcd, or
// until nothing declares or shows any more that it does. denied distinguishes the two. It returns
// false where the workload is gone, or is that of another owner now.
func (r *Reader) Former(ctx context.Context, key owner.Key) (o owner.Owner, denied, found bool, err error) {
	var etcd druidv1alpha1.Etcd
	var sts appsv1.StatefulSet
	name := key.Name
	if key.Kind == owner.EtcdKind.Kind {
		if found, err = r.Fetch(ctx, key.Namespace, key.Name, &etcd); err != nil || !found {
			return owner.Owner{}, false, false, err
		}
		name = druidv1alpha1.GetStatefulSetName(etcd.ObjectMeta)
	}
	if found, err = r.Fetch(ctx, key.Namespace, name, &sts); err != nil {
		return owner.Owner{}, false, false, err
	}
	ref, ofEtcd := owner.EtcdOf(&sts)
	switch {
	case key.Kind != owner.EtcdKind.Kind:
		return owner.OfStatefulSet(&sts), etcdconf.DeniesEtcd(etcdconf.PodOfTemplate(&sts)), found && !ofEtcd, nil
	case found && ofEtcd && ref.UID == etcd.UID:
		return owner.OfEtcd(&etcd, &sts), etcdconf.DeniesEtcd(&etcd), true, nil
	}
	return owner.OfEtcd(&etcd, nil), etcdconf.DeniesEtcd(&etcd), true, nil
}

// Owners lists the etcd clusters, Etcds first. It includes an Etcd whose StatefulSet druid has not
// created yet. An Owner points to objects of the cache, which must not be changed.
func (r *Reader) Owners(ctx context.Context, opts ...client.ListOption) ([]owner.Owner, error) {
	// It reads all StatefulSets of a cluster, and few of them run etcd.
	opts = append(opts, client.UnsafeDisableDeepCopy)
	var sets appsv1.StatefulSetList
	if err := r.List(ctx, &sets, opts...); err != nil {
		return nil, fmt.Errorf("list StatefulSets: %w", err)
	}
	var etcds druidv1alpha1.EtcdList
	if r.NoEtcds == nil || !r.NoEtcds() {
		// The kind may not be served: etcd-druid may be installed later or never.
		if err := r.List(ctx, &etcds, opts...); err != nil && !meta.IsNoMatchError(err) && !apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("list Etcds: %w", err)
		}
	}
	byController := map[types.UID]*appsv1.StatefulSet{}
	var rest []owner.Owner
	var standalone []*appsv1.StatefulSet
	for i := range sets.Items {
		sts := &sets.Items[i]
		if owner, ok := r.Standalone(ctx, sts); ok {
			rest, standalone = append(rest, owner), append(standalone, sts)
		} else if ref := metav1.GetControllerOf(sts); ref != nil {
			byController[ref.UID] = sts
		}
	}
	owners := make([]owner.Owner, 0, len(etcds.Items)+len(rest))
	for i := range etcds.Items {
		if etcdconf.DeniesEtcd(&etcds.Items[i]) {
			continue
		}
		owners = append(owners, owner.OfEtcd(&etcds.Items[i], byController[etcds.Items[i].UID]))
	}
	return append(owners, owner.WithSpanning(rest, standalone)...), nil
}

// WithPeers returns the cluster that a StatefulSet's members are in: its own, or one that spans the
// StatefulSets that its members list and that list them. The StatefulSet counts as it is given, also
// if it is not stored yet. alone is its cluster if it has no peers.
func (r *Reader) WithPeers(ctx context.Context, sts *appsv1.StatefulSet, alone owner.Owner) (owner.Owner, error) {
	sets, err := r.beside(ctx, sts)
	switch {
	case err != nil && len(source.PeersOf(sts).Others) == 0:
		// A user may read this one and not list the others. The plugin asks etcd which members there are.
		return alone, nil
	case err != nil:
		return owner.Owner{}, err
	}
	o := alone
	for _, whole := range owner.Spanning(sets) {
		if whole.Runs(sts.Name) {
			o = r.executing(ctx, whole.Executing(alone), sts, sets)
		}
	}
	return r.withPodsBeside(ctx, o, sets)
}

// executing returns a cluster that spans StatefulSets with what the pods of the other ones execute by
// mounted scripts, if these are read.
func (r *Reader) executing(ctx context.Context, o owner.Owner, sts *appsv1.StatefulSet, sets []*appsv1.StatefulSet) owner.Owner {
	if r.Scripts == nil || !o.Spans() {
		return o
	}
	for _, other := range sets {
		if other.Name == sts.Name || !o.Runs(other.Name) {
			continue
		}
		if alone, ok := r.Standalone(ctx, other); ok {
			o = o.Executing(alone)
		}
	}
	return o
}

// Standalone returns the owner that a StatefulSet is itself, by its template and by what its pods mount, if this reader may read that.
func (r *Reader) Standalone(ctx context.Context, sts *appsv1.StatefulSet) (owner.Owner, bool) {
	o, found := owner.Standalone(sts)
	pod := etcdconf.PodOfTemplate(sts)
	_, ofDruid := owner.EtcdOf(sts)
	if r.Scripts == nil || ofDruid || etcdconf.DeniesEtcd(pod) || !found && !etcdconf.WorthReading(&pod.Spec) {
		return o, found
	}
	contents := r.Scripts.Contents(ctx, r, sts.Namespace)
	if !found {
		member, err := memberIn(pod, contents)
		if member.Evidence < etcdconf.Shown || member.Container == nil {
			if err == nil {
				r.Scripts.Found(sts.Namespace, sts.Name)
			} else {
				r.Scripts.Miss(podfiles.Unread{Namespace: sts.Namespace, Name: sts.Name, Labels: sts.Labels, Err: err})
			}
			return owner.Owner{}, false
		}
		r.Scripts.Found(sts.Namespace, sts.Name)
		o = owner.OfStatefulSet(sts)
		o.Mounted = member.Container.Name
	}
	o.MemberChanges = etcdconf.MemberChanges(pod, contents)
	return o, true
}

// ListedBy returns the clusters of whose members a StatefulSet lists some, and which do not list it.
func (r *Reader) ListedBy(ctx context.Context, sts *appsv1.StatefulSet) ([]owner.Key, error) {
	if len(source.PeersOf(sts).Others) == 0 {
		return nil, nil
	}
	owners, err := r.Owners(ctx, client.InNamespace(sts.Namespace))
	var out []owner.Key
	for _, o := range owners {
		if slices.Contains(o.Listers, sts.Name) {
			out = append(out, o.Key())
		}
	}
	return out, err
}

// memberIn returns what etcdconf.MemberIn returns, and the first error of an object that could not be read. An object that does not
// exist shows nothing: no pod that needs it can start.
func memberIn(pod *corev1.Pod, contents etcdconf.Contents) (m etcdconf.Member, unread error) {
	m = etcdconf.MemberIn(pod, func(kind, name string) (map[string][]byte, error) {
		data, err := contents(kind, name)
		if err != nil && unread == nil && !errors.As(err, new(*etcdconf.MissingError)) {
			unread = err
		}
		return data, err
	})
	return m, unread
}
