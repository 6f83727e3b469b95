// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package memberhealth

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// mostAtOnce bounds the questions at one time.
	mostAtOnce = 32
	// mostOfNamespace bounds those to members of one namespace. A member that hangs takes as long as timeout.
	mostOfNamespace = 4
)

// question is one to the member of a pod.
type question struct {
	pod           client.ObjectKey
	uid, workload types.UID
}

// queue has the questions that wait. Namespaces are served in rotation, and the questions of one namespace in
// their order, so that no namespace with many members that hang delays the questions of another one.
// The zero queue is empty.
type queue struct {
	// order has the namespaces with questions that wait, the next one first.
	order   []string
	waiting map[string][]question
	// asked counts the questions that are put, by namespace and in all.
	asked map[string]int
	total int
}

// add appends a question.
func (q *queue) add(one question) {
	if q.waiting == nil {
		q.waiting, q.asked = map[string][]question{}, map[string]int{}
	}
	namespace := one.pod.Namespace
	if len(q.waiting[namespace]) == 0 {
		q.order = append(q.order, namespace)
	}
	q.waiting[namespace] = append(q.waiting[namespace], one)
}

// take removes the next question that may be put now, and counts it until done. It returns false for none.
func (q *queue) take() (question, bool) {
	at := slices.IndexFunc(q.order, func(namespace string) bool { return q.asked[namespace] < mostOfNamespace })
	if at < 0 || q.total >= mostAtOnce {
		return question{}, false
	}
	namespace := q.order[at]
	q.order = slices.Delete(q.order, at, at+1)
	one := q.waiting[namespace][0]
	if rest := q.waiting[namespace][1:]; len(rest) > 0 {
		q.waiting[namespace] = rest
		q.order = append(q.order, namespace)
	} else {
		delete(q.waiting, namespace)
	}
	q.asked[namespace]++
	q.total++
	return one, true
}

// done ends a question that was taken.
func (q *queue) done(one question) {
	q.total--
	if q.asked[one.pod.Namespace]--; q.asked[one.pod.Namespace] == 0 {
		delete(q.asked, one.pod.Namespace)
	}
}
