// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package observe

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"
)

// WithLabels returns the owners whose labels the selector matches.
func WithLabels(owners []Owner, selector labels.Selector) []Owner {
	return slices.DeleteFunc(owners, func(o Owner) bool { return !selector.Matches(labels.Set(o.Labels)) })
}
