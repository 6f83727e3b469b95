// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package resolve

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// UnreadError is returned where it is not known which StatefulSets run etcd, since objects with what their
// pods execute could not be read. It is of one namespace.
type UnreadError struct {
	Namespace string
	// Names are the StatefulSets, sorted.
	Names []string
	// Err is why the first one could not be read.
	Err error
}

// shownUnread is how many StatefulSets a message names.
const shownUnread = 3

func (e *UnreadError) Error() string {
	names := e.Names
	if len(names) > shownUnread {
		names = append(names[:shownUnread:shownUnread], fmt.Sprintf("%d more", len(e.Names)-shownUnread))
	}
	return fmt.Sprintf("it is not known whether StatefulSet %s in namespace %s runs etcd: %v. %s", policy.List(names), e.Namespace, e.Err, e.cure())
}

func (e *UnreadError) cure() string {
	many, limited := errors.AsType[*podfiles.ManyObjectsError](e.Err)
	switch {
	case limited && many.All:
		return fmt.Sprintf("kubectl etcd list -n %s reads those of one namespace", e.Namespace)
	case limited:
		return fmt.Sprintf("kubectl etcd status statefulset/%s -n %s reads those of one", e.Names[0], e.Namespace)
	}
	return fmt.Sprintf("With permission to read it, run the command again. To declare what the pods run: kubectl annotate statefulset %s -n %s %s=CONTAINER, or %s",
		e.Names[0], e.Namespace, v1alpha1.EtcdAnnotation, v1alpha1.EtcdAnnotation+"="+v1alpha1.NotEtcd)
}

// Unread returns the StatefulSets of which it is not known whether they run etcd, since what their pods execute could not
// be read: an error for each namespace, in order. It returns those that a list of clusters has met before, and whose
// labels match.
func Unread(scripts *podfiles.Scripts, namespace string, selector labels.Selector) []*UnreadError {
	return unreadOf(scripts, namespace, func(u podfiles.Unread) bool { return selector.Matches(labels.Set(u.Labels)) })
}

func unreadOf(scripts *podfiles.Scripts, namespace string, counts func(podfiles.Unread) bool) []*UnreadError {
	var out []*UnreadError
	for _, u := range scripts.Unread(namespace) {
		if !counts(u) {
			continue
		}
		if len(out) == 0 || out[len(out)-1].Namespace != u.Namespace {
			out = append(out, &UnreadError{Namespace: u.Namespace, Err: u.Err})
		}
		last := out[len(out)-1]
		last.Names = append(last.Names, u.Name)
	}
	return out
}

// unreadNamed returns an error if it is not known whether StatefulSets of a namespace that count run etcd.
func unreadNamed(scripts *podfiles.Scripts, namespace string, counts func(name string) bool) error {
	if all := unreadOf(scripts, namespace, func(u podfiles.Unread) bool { return counts(u.Name) }); len(all) > 0 {
		return all[0]
	}
	return nil
}
