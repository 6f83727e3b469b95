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

// CutUntil returns until when a Service's selector cuts client traffic. It returns false where it
// doesn't, and where the value is invalid: no one requests a cut without an end.
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

// trafficCut reports whether any of the Services cuts traffic to pods with these labels. A cut lasts
// until the key is removed, also after its end. Headless Services don't count: they connect members,
// not clients.
func trafficCut(services []corev1.Service, member labels.Set) bool {
	return slices.ContainsFunc(services, func(s corev1.Service) bool {
		if !IsCut(&s) || s.Spec.ClusterIP == corev1.ClusterIPNone {
			return false
		}
		rest := Uncut(&s)
		return len(rest) > 0 && labels.SelectorFromSet(rest).Matches(member)
	})
}

// Uncut returns the selector of a Service without a traffic cut.
func Uncut(service *corev1.Service) labels.Set {
	rest := labels.Set(maps.Clone(service.Spec.Selector))
	delete(rest, v1alpha1.ClientTrafficKey)
	return rest
}
