// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"maps"
	"slices"
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

// trafficCut says whether any of the Services keeps clients from pods with these labels. A
// cut whose time is over goes on until the key is gone. A headless Service is none of the
// clients': cutting one would part the members.
func trafficCut(services []corev1.Service, member labels.Set) bool {
	return slices.ContainsFunc(services, func(s corev1.Service) bool {
		if !IsCut(&s) || s.Spec.ClusterIP == corev1.ClusterIPNone {
			return false
		}
		rest := Uncut(&s)
		return len(rest) > 0 && labels.SelectorFromSet(rest).Matches(member)
	})
}

// Uncut is what a Service selects when its traffic is not cut.
func Uncut(service *corev1.Service) labels.Set {
	rest := labels.Set(maps.Clone(service.Spec.Selector))
	delete(rest, v1alpha1.ClientTrafficKey)
	return rest
}
