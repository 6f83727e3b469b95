// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"maps"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
)

// CutUntil is until when the Service's selector cuts client traffic, false
// when it doesn't or when what it says can't be read: a cut that never ends is
// none that anybody asked for.
func CutUntil(service *corev1.Service) (time.Time, bool) {
	digits, ok := strings.CutPrefix(service.Spec.Selector[v1alpha1.ClientTrafficKey], v1alpha1.ClientTrafficPrefix)
	if !ok {
		return time.Time{}, false
	}
	seconds, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return time.Time{}, false
	}
	return time.Unix(seconds, 0), true
}

// cutUntil is until when any of the Services cuts the traffic to pods with
// these labels, false when none does. A headless Service is none of the
// clients': cutting one would part the members.
func cutUntil(services []corev1.Service, member labels.Set, now time.Time) (time.Time, bool) {
	var last time.Time
	for i := range services {
		s := &services[i]
		until, cut := CutUntil(s)
		if !cut || !until.After(now) || s.Spec.ClusterIP == corev1.ClusterIPNone {
			continue
		}
		rest := maps.Clone(s.Spec.Selector)
		delete(rest, v1alpha1.ClientTrafficKey)
		if len(rest) > 0 && labels.SelectorFromSet(rest).Matches(member) && until.After(last) {
			last = until
		}
	}
	return last, !last.IsZero()
}
