// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package sweep

import (
	"context"
	"slices"
	"strings"

	druidv1alpha1 "github.com/gardener/etcd-druid/api/core/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/source"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/sweep"
)

// findMemberLeases returns the leases of members of etcd-druid.
func (v *view) findMemberLeases(ctx context.Context) ([]Item, error) {
	leases, err := v.readLeases(ctx)
	if err != nil {
		return nil, err
	}
	etcds, err := v.readEtcds(ctx)
	if err != nil {
		return nil, err
	}
	owners, err := v.readOwners(ctx)
	if err != nil {
		return nil, err
	}
	var items []Item
	for at := range leases {
		lease := &leases[at]
		name := lease.Labels[druidv1alpha1.LabelPartOfKey]
		if lease.Labels[druidv1alpha1.LabelComponentKey] != source.MemberLeaseComponent || name == "" {
			continue
		}
		i := Item{Resource: "leases", Group: coordinationv1.GroupName, Cluster: name, object: lease, names: []string{name}, Since: lease.CreationTimestamp.Time}
		of := slices.IndexFunc(etcds, func(e druidv1alpha1.Etcd) bool { return e.Namespace == lease.Namespace && e.Name == name })
		if of < 0 {
			v.ofGone(ctx, &i, name)
			items = append(items, i)
			continue
		}
		key := owner.Key{Kind: "Etcd", Namespace: lease.Namespace, Name: name}
		if o := slices.IndexFunc(owners, func(o owner.Owner) bool { return o.Key() == key }); o >= 0 {
			i.Owner = &owners[o]
			v.member(ctx, &i, *i.Owner, podOfLease(lease.Name, &etcds[of]), "")
			items = append(items, i)
		}
	}
	return items, nil
}

// podOfLease returns the pod of a member's lease. Its name may have a prefix that the pod does not have.
func podOfLease(lease string, etcd *druidv1alpha1.Etcd) string {
	if p := etcd.Spec.MemberNamePrefix; p != nil && *p != "" {
		return strings.TrimPrefix(lease, *p+"-")
	}
	return lease
}

// ofGone reads the facts of a member's lease whose Etcd does not exist. As long as its StatefulSet or
// its pod exists, the member may.
func (v *view) ofGone(ctx context.Context, i *Item, name string) {
	f, namespace := &i.Facts, i.object.GetNamespace()
	f.Locked = v.locked(ctx, namespace, locksOf(nil, name)...)
	f.Wanted = v.exists(ctx, "statefulsets.apps", namespace, name, ownerKinds()["statefulset"])
	f.Runs = v.runs(ctx, namespace, i.object.GetName(), "")
	f.Unfinished, f.Listed = rules.No, rules.No
}

// findClaims returns the volume claims of ordinals beyond the size of a cluster. Those of a cluster that
// spans several StatefulSets are left out: which of them gets another member is not known.
func (v *view) findClaims(ctx context.Context) ([]Item, error) {
	owners, err := v.readOwners(ctx)
	if err != nil {
		return nil, err
	}
	var claims corev1.PersistentVolumeClaimList
	if err := v.Kube.List(ctx, &claims, client.InNamespace(v.namespace)); err != nil {
		return nil, err
	}
	var items []Item
	for at := range claims.Items {
		claim := &claims.Items[at]
		o, pod := memberOfClaim(owners, claim)
		if o == nil || claim.DeletionTimestamp != nil {
			continue
		}
		i := Item{Resource: "persistentvolumeclaims", object: claim, Owner: o, Since: claim.CreationTimestamp.Time}
		v.member(ctx, &i, *o, pod, claim.Name)
		items = append(items, i)
	}
	return items, nil
}

// memberOfClaim returns the cluster and the pod of a volume claim, nil for one that is no member's.
func memberOfClaim(owners []owner.Owner, claim *corev1.PersistentVolumeClaim) (*owner.Owner, string) {
	for at := range owners {
		o := &owners[at]
		if o.Namespace != claim.Namespace || o.StatefulSet == "" || o.Spans() {
			continue
		}
		for _, c := range o.Claims {
			if pod, ok := strings.CutPrefix(claim.Name, c.Template+"-"); ok && o.Ordinal(pod) >= 0 {
				return o, pod
			}
		}
	}
	return nil, ""
}

// member reads the facts of what belongs to a member. The members are asked only if the other facts
// leave it open.
func (v *view) member(ctx context.Context, i *Item, o owner.Owner, pod, claim string) {
	f := &i.Facts
	f.Cluster, f.Locked = rules.Yes, v.locked(ctx, o.Namespace, lock.Name(o))
	f.Wanted = rules.Of(o.Replicas == 0 || o.Ordinal(pod) < int(o.Replicas))
	if f.Wanted == rules.Yes {
		return
	}
	if f.Runs = v.runs(ctx, o.Namespace, pod, claim); f.Runs == rules.Yes {
		return
	}
	if f.Unfinished = v.unfinished(ctx, o); f.Unfinished == rules.Yes || f.Locked == rules.Yes {
		return
	}
	f.Listed = v.listed(ctx, o, pod)
}

// runs reports whether a pod of a name exists, or a pod mounts a volume claim.
func (v *view) runs(ctx context.Context, namespace, name, claim string) rules.Known {
	pods, err := v.readPods(ctx)
	if err != nil {
		return v.unsure("pods", err)
	}
	return rules.Of(slices.ContainsFunc(pods, func(p corev1.Pod) bool {
		return p.Namespace == namespace && (p.Name == name || claim != "" && usesClaim(&p, claim))
	}))
}

// listed reports whether etcd has the member of a pod. It is not known if an entry of the member list
// fits no ordinal: that could be this member, under another name.
func (v *view) listed(ctx context.Context, o owner.Owner, pod string) rules.Known {
	s, err := v.survey(ctx, o)
	if err != nil {
		return v.unsure("the member list of "+o.String(), err)
	}
	known := rules.No
	for _, l := range s.List {
		switch {
		case ofPod(l, pod):
			return rules.Yes
		case l.Pod == "" && !slices.ContainsFunc(append(l.Hosts(), l.Name), func(n string) bool { return o.Ordinal(n) >= 0 }):
			known = rules.Unknown
		}
	}
	return known
}

// ofPod reports whether an entry of a member list is that of a pod. Its name may have a prefix.
func ofPod(l etcd.Listed, pod string) bool {
	return l.Pod == pod || l.Name == pod || strings.HasSuffix(l.Name, "-"+pod) || slices.Contains(l.Hosts(), pod)
}
