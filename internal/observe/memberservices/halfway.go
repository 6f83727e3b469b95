// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberservices

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// Halfway is a restore or a coordinated restart of kubectl etcd that has stopped members and has not ended.
type Halfway string

// The operations.
const (
	Restoring  Halfway = "restore"
	Restarting Halfway = "coordinated restart"
)

// HalfwayOf returns the operation that has marked a StatefulSet, empty for none. A restart that has stopped no member
// yet is none.
func HalfwayOf(sts *appsv1.StatefulSet) Halfway {
	_, restoring := sts.Annotations[v1alpha1.RestoreAnnotation]
	phase, restarting := sts.Annotations[v1alpha1.RestartAnnotation]
	switch {
	case restoring:
		return Restoring
	case restarting && !strings.HasPrefix(phase, string(restart.Scheduled)+" "):
		return Restarting
	}
	return ""
}

// Stopped is a cluster with members that an operation has stopped.
type Stopped struct {
	By          Halfway
	Owner       owner.Owner
	StatefulSet string
}

// String returns the operation and its cluster, as the subject of a sentence.
func (s *Stopped) String() string {
	return fmt.Sprintf("a %s has stopped members of StatefulSet %s/%s and has not ended", s.By, s.Owner.Namespace, s.StatefulSet)
}

// Ways returns how the operation is continued or ended, and client traffic restored, as clauses.
func (s *Stopped) Ways(flags string) string {
	target, rest := s.Owner.Target().String(), " -n "+s.Owner.Namespace+flags
	resume, abort := "kubectl etcd restart "+target+" --strategy coordinated"+rest, "restart "+target+" --abort"
	if s.By == Restoring { // only its journal has the name of the snapshot
		resume, abort = "kubectl etcd status "+target+rest+" shows the command with its snapshot", "snapshot restore "+target+" --abort"
	}
	return fmt.Sprintf("continue it: %[1]s; or end it: kubectl etcd %[2]s%[4]s; if there is none to end, restore client traffic: kubectl etcd restore-client-traffic %[3]s%[4]s",
		resume, abort, target, rest)
}

// StoppedBehind returns the first cluster behind a Service that an operation has stopped, nil for none.
func StoppedBehind(ctx context.Context, r *observe.Reader, service *corev1.Service) (*Stopped, error) {
	sets, err := setsOf(ctx, r, service)
	if err != nil {
		return nil, err
	}
	for _, sts := range sets {
		by := HalfwayOf(sts)
		if by == "" {
			continue
		}
		o, found, err := r.OwnerOfStatefulSet(ctx, sts)
		if err != nil {
			return nil, err
		}
		if !found {
			o = owner.OfStatefulSet(sts)
		}
		return &Stopped{By: by, Owner: o, StatefulSet: sts.Name}, nil
	}
	return nil, nil
}

// Clusters returns the clusters to which a Service leads when a traffic cut is ignored: those whose members it
// selects, and those whose StatefulSet has no pods now.
func Clusters(ctx context.Context, r *observe.Reader, service *corev1.Service) ([]owner.Owner, error) {
	owners, _, err := Owners(ctx, r, service)
	if err != nil {
		return nil, err
	}
	sets, err := setsOf(ctx, r, service)
	if err != nil {
		return nil, err
	}
	for _, sts := range sets {
		o, found, err := r.OwnerOfStatefulSet(ctx, sts)
		if err != nil {
			return nil, err
		}
		if found && !slices.ContainsFunc(owners, func(has owner.Owner) bool { return has.Key() == o.Key() }) {
			owners = append(owners, o)
		}
	}
	return owners, nil
}

// setsOf returns the StatefulSets whose pods a Service selects when a traffic cut is ignored, by name, also those
// that have no pod. A Service without a selector selects none.
func setsOf(ctx context.Context, r *observe.Reader, service *corev1.Service) ([]*appsv1.StatefulSet, error) {
	selector := observe.Uncut(service)
	if len(selector) == 0 {
		return nil, nil
	}
	var list appsv1.StatefulSetList
	if err := r.List(ctx, &list, client.InNamespace(service.Namespace), client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("list StatefulSets of Service %s/%s: %w", service.Namespace, service.Name, err)
	}
	var sets []*appsv1.StatefulSet
	for i := range list.Items {
		if labels.SelectorFromSet(selector).Matches(owner.FirstPodLabels(&list.Items[i])) {
			sets = append(sets, &list.Items[i])
		}
	}
	slices.SortFunc(sets, func(a, b *appsv1.StatefulSet) int { return cmp.Compare(a.Name, b.Name) })
	return sets, nil
}
