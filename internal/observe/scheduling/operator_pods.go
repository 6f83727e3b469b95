// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package scheduling

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/spread"
)

// OwnerOf returns the cluster for which a pod is about to be created: that of Reader.OwnerOfPod, or the operator's
// object for a pod that an operator creates itself. It returns false for a pod of no cluster, and if that object is
// gone.
func OwnerOf(ctx context.Context, r *observe.Reader, pod *corev1.Pod) (owner.Owner, bool, error) {
	made, ok := owner.MadeByOperator(pod)
	if !ok || !owner.IsPodsMember(pod) {
		return r.OwnerOfPod(ctx, pod)
	}
	o := owner.OfPod(pod)
	cluster := unstructured.Unstructured{}
	cluster.SetGroupVersionKind(made.Kind)
	found, err := r.Fetch(ctx, o.Namespace, o.Name, &cluster)
	if err != nil || !found || etcdconf.DeniesEtcd(&cluster) {
		return owner.Owner{}, false, err
	}
	path := o.Product().Pods.ReplicasPath()
	replicas, found, err := unstructured.NestedInt64(cluster.Object, path...)
	if err == nil && !found {
		err = fmt.Errorf("it has no field %s with its number of members", strings.Join(path, "."))
	}
	if err != nil {
		return owner.Owner{}, false, fmt.Errorf("observe %s: %w", o, err)
	}
	o.Replicas = int32(min(max(replicas, 1), math.MaxInt32))
	o.Labels, o.Annotations = cluster.GetLabels(), cluster.GetAnnotations()
	o.Claims, err = claimsOf(ctx, r, pod)
	return o, err == nil, err
}

// claimsOf returns the claims of one pod only, as if they came from templates: those of the other
// members have names of the same form.
func claimsOf(ctx context.Context, r *observe.Reader, pod *corev1.Pod) ([]owner.Claim, error) {
	var claims []owner.Claim
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		template, own := strings.CutSuffix(v.PersistentVolumeClaim.ClaimName, "-"+pod.Name)
		if !own {
			continue
		}
		claim, _, err := readClaim(ctx, r, pod.Namespace, v.PersistentVolumeClaim.ClaimName)
		if err != nil {
			return nil, err
		}
		claims = append(claims, owner.Claim{Template: template, Class: classOf(&claim)})
	}
	return claims, nil
}

// assignOrdinals numbers pods whose names have no ordinal, and the new pod after the others. It
// returns the pods' names by ordinal, empty for pods that don't exist yet.
func assignOrdinals(ctx context.Context, r *observe.Reader, o owner.Owner, pod *corev1.Pod, f *spread.Facts) (names []string, err error) {
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(o.Namespace), client.MatchingLabels(o.MemberSelector.MatchLabels), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list pods of %s: %w", o, err)
	}
	var ending []string
	for i := range pods.Items {
		switch other := &pods.Items[i]; {
		case other.Name == pod.Name || !owner.IsMadeByOperator(other):
		case other.DeletionTimestamp != nil:
			ending = append(ending, other.Name)
		default:
			names = append(names, other.Name)
		}
	}
	// A pod that is being deleted comes back, unless the new pod replaces it.
	names = append(names, ending[:max(0, min(len(ending), f.Size-1-len(names)))]...)
	slices.Sort(names)
	names = append(names, pod.Name)
	f.Ordinal, f.Size = len(names)-1, max(f.Size, len(names))
	return slices.Concat(names, make([]string, max(0, min(f.Size, owner.MaxMembersRead)-len(names)))), nil
}
