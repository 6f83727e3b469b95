// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"context"
	"fmt"
	"maps"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// LongestCut is how far ahead the end of a cut may be, whatever client writes it.
const LongestCut = 24 * time.Hour

// CutOverdue is how long a cut may be in force after its end: the controller that restores the traffic has
// another clock. The alert EtcdTrafficCutOverdue has the same limit.
const CutOverdue = time.Minute

// cutSkew is by how much the clock of the client that cut may be ahead of ours.
const cutSkew = 5 * time.Minute

// CutUntil returns until when a Service's selector cuts client traffic. It returns false where it
// doesn't, where the value is invalid, and where the end is further ahead than LongestCut: no one
// requests a cut without an end.
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

// IsCut reports whether a Service's selector cuts client traffic, also after the end of the cut and
// with an invalid end.
func IsCut(service *corev1.Service) bool {
	_, cut := service.Spec.Selector[v1alpha1.ClientTrafficKey]
	return cut
}

// CutValue returns the value of a Service's selector that cuts traffic until a time, in whole
// seconds. The zero time is a cut that is over by every clock.
func CutValue(until time.Time) string {
	if until.IsZero() {
		return v1alpha1.ClientTrafficPrefix + "0"
	}
	return v1alpha1.ClientTrafficPrefix + strconv.FormatInt(until.Unix(), 10)
}

// trafficCut reports whether any of the Services keeps clients from the members. A cut whose
// time is over goes on until the key is gone. A headless Service is none of the clients':
// cutting one would part the members. Only a Service that selects this cluster's members
// alone counts, so that one over a namespace cuts no cluster in it.
func (r *Reader) trafficCut(ctx context.Context, w *Workload, services []corev1.Service) (bool, error) {
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

// selectsAlone reports whether labels select no pods but a workload's. Pods that have ended have
// no endpoint, and the pods of a product's own jobs, such as druid's compaction, are of the same cluster.
func (r *Reader) selectsAlone(ctx context.Context, w *Workload, set labels.Set) (bool, error) {
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
		if other || !w.owner.Product().JobsShareLabels {
			return false, nil
		}
	}
	return true, nil
}

// Uncut returns the selector of a Service without a traffic cut.
func Uncut(service *corev1.Service) labels.Set {
	rest := labels.Set(maps.Clone(service.Spec.Selector))
	delete(rest, v1alpha1.ClientTrafficKey)
	return rest
}
