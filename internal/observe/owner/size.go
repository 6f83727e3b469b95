// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package owner

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// MembersElsewhere counts the members that the members list and that no workload of the namespace
// has. It is 0 where an annotation contains the number of voters.
func (o Owner) MembersElsewhere() int {
	if _, known := annotation.ParseSize(o.SizeText()); known {
		return 0
	}
	return o.Elsewhere
}

// MembersDown counts the members beside those of its workloads that count as down: those elsewhere, and
// those of StatefulSets that list it and are not ready. It is 0 where an annotation contains the number of
// voters.
func (o Owner) MembersDown() int {
	if _, known := annotation.ParseSize(o.SizeText()); known {
		return 0
	}
	return o.Elsewhere + o.Unready
}

// MembersListed counts the members that the members list, as MembersElsewhere does: a StatefulSet
// that was scaled to nothing has members in etcd that still count.
func (o Owner) MembersListed() int {
	if _, known := annotation.ParseSize(o.SizeText()); known {
		return 0
	}
	return o.Listed
}

// UnknownPeers returns why it is not known which members the cluster has beside those of its workloads.
// It is empty if that is known, or if an annotation contains the number of voters.
func (o Owner) UnknownPeers() string {
	_, known := annotation.ParseSize(o.SizeText())
	switch {
	case known:
		return ""
	case o.Mounted != "":
		return "the list is in a mounted script, which is not read for it"
	}
	if o.PeersUnknown == "" && o.Unmatched > 0 && o.Replicas <= 1 { // several pods with older lists are no sign of more
		return "the lists of members name " + policy.Count(o.Unmatched, "more member") + ", which no pod is known to run; they may be from before members were replaced"
	}
	return o.PeersUnknown
}

// Separate reports whether the pods of a StatefulSet are shown to be etcds of their own, and no cluster: each lists only
// itself. A start script may add them to one, also one that can't be read, and an annotation with the number of voters declares
// that they are one.
func (o Owner) Separate() bool {
	_, known := annotation.ParseSize(o.SizeText())
	adds := slices.ContainsFunc(o.MemberChanges, func(c etcdconf.MemberChange) bool { return c.Verb == "add" || c.Unread != "" })
	return o.ListSelf && o.Replicas > 1 && o.Controller == nil && !o.Spans() && !known && !adds
}

// SizeText returns the owner's annotation.
func (o Owner) SizeText() string { return o.Annotations[v1alpha1.SizeAnnotation] }

// HasSize reports whether annotations of an owner contain how many voters etcd has.
func HasSize(annotations map[string]string) bool {
	_, has := annotations[v1alpha1.SizeAnnotation]
	return has
}

// WithSize returns a copy of annotations that contains how many voters etcd has. The time makes
// the same number count again after a larger one.
func WithSize(annotations map[string]string, n int, now time.Time) map[string]string {
	out := maps.Clone(annotations)
	if out == nil {
		out = map[string]string{}
	}
	out[v1alpha1.SizeAnnotation] = fmt.Sprintf("%d at %s", n, now.UTC().Format(time.RFC3339Nano)) //nolint:forbidigo // stored
	return out
}
