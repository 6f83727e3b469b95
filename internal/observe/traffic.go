// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// LongestCut is how far ahead the end of a cut may be, whoever writes it.
const LongestCut = 24 * time.Hour

// cutSkew is by how much the clock of whoever cut may be ahead of ours.
const cutSkew = 5 * time.Minute

// CutUntil is until when the Service's selector cuts client traffic, false
// when it doesn't, when what it says can't be read, or when the end is further ahead
// than LongestCut: a cut that never ends is none that anybody asked for.
func CutUntil(service *corev1.Service, now time.Time) (time.Time, bool) {
	digits, ok := strings.CutPrefix(service.Spec.Selector[v1alpha1.ClientTrafficKey], v1alpha1.ClientTrafficPrefix)
	if !ok {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	until := time.Unix(seconds, 0)
	if until.After(now.Add(LongestCut + cutSkew)) {
		return time.Time{}, false
	}
	return until, true
}

// IsCut says whether a Service's selector keeps clients away, be the time over, or not to be
// read, or not.
func IsCut(service *corev1.Service) bool {
	_, cut := service.Spec.Selector[v1alpha1.ClientTrafficKey]
	return cut
}

// CutValue is the value in a Service's selector that cuts until then, to the
// second. The zero time ends a cut whatever anybody's clock says.
func CutValue(until time.Time) string {
	if until.IsZero() {
		return v1alpha1.ClientTrafficPrefix + "0"
	}
	return v1alpha1.ClientTrafficPrefix + strconv.FormatInt(until.Unix(), 10)
}

// trafficCut says whether any of the Services keeps clients from the members. A cut whose
// time is over goes on until the key is gone. A headless Service is none of the clients':
// cutting one would part the members. Only a Service that selects this cluster's members
// alone counts, so that one over a namespace cuts no cluster in it.
func (r *Reader) trafficCut(ctx context.Context, w *workload, services []corev1.Service) (bool, error) {
	for i := range services {
		s := &services[i]
		rest := Uncut(s)
		if !IsCut(s) || s.Spec.ClusterIP == corev1.ClusterIPNone || len(rest) == 0 || !labels.SelectorFromSet(rest).Matches(w.nextLabels()) {
			continue
		}
		alone, err := r.selectsAlone(ctx, w, rest)
		if alone || err != nil {
			return alone, err
		}
	}
	return false, nil
}

// selectsAlone says whether labels select no pods but a workload's. Pods that have ended have
// no endpoint, and druid's compaction pods are of the same cluster.
func (r *Reader) selectsAlone(ctx context.Context, w *workload, set labels.Set) (bool, error) {
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(w.owner.Namespace), client.MatchingLabels(set), client.UnsafeDisableDeepCopy); err != nil {
		return false, fmt.Errorf("list pods of the Services of %s: %w", w.owner, err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if w.has(pod) || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		_, other, err := r.OwnerOfPod(ctx, pod)
		if err != nil {
			return false, err
		}
		if other || w.owner.Flavour != Druid {
			return false, nil
		}
	}
	return true, nil
}

// Uncut is what a Service selects when its traffic is not cut.
func Uncut(service *corev1.Service) labels.Set {
	rest := labels.Set(maps.Clone(service.Spec.Selector))
	delete(rest, v1alpha1.ClientTrafficKey)
	return rest
}

// OwnersOfService finds the clusters whose members a Service selects when it is
// not cut, and the names of the other pods that it selects. A Service without
// a selector selects none.
func (r *Reader) OwnersOfService(ctx context.Context, service *corev1.Service) (owners []Owner, others []string, err error) {
	selector := Uncut(service)
	if len(selector) == 0 {
		return nil, nil, nil
	}
	var pods corev1.PodList
	if err := r.List(ctx, &pods, client.InNamespace(service.Namespace), client.MatchingLabels(selector), client.UnsafeDisableDeepCopy); err != nil {
		return nil, nil, fmt.Errorf("list pods of Service %s/%s: %w", service.Namespace, service.Name, err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue // no endpoint
		}
		owner, found, err := r.clusterOfPod(ctx, pod)
		switch {
		case err != nil:
			return nil, nil, err
		case !found:
			others = append(others, pod.Name)
		case !slices.ContainsFunc(owners, func(o Owner) bool { return o.Key() == owner.Key() }):
			owners = append(owners, owner)
		}
	}
	return owners, others, nil
}
