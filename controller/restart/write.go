// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/announce"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
	"github.com/kubectl-etcd/kubectl-etcd/policy/restart"
)

// actionRestart is the action of Events of restarts.
const actionRestart = "RestartMember"

// keepRecords writes the records that the requests call for, and reports whether it wrote any: a request begins, is
// withdrawn, or is done.
func (c *Reconciler) keepRecords(ctx context.Context, s *state) (wrote bool, err error) {
	for i := range s.Sets {
		record, note := s.wanted(i)
		changed, err := c.record(ctx, s, i, record)
		if err != nil {
			return wrote, err
		}
		wrote = wrote || changed
		if record != s.records[i].String() && (record != "" || s.records[i].Request != "") {
			c.publishChange(s.owner, note)
		}
	}
	return wrote, nil
}

// wanted returns the record that a StatefulSet is to have, empty for none, and what is announced of a change.
func (s *state) wanted(i int) (string, policy.Note) {
	request, record := s.requests[i], s.records[i]
	switch {
	case request == "":
		return "", policy.NewNote(restart.RequestWithdrawn, "the request %q is withdrawn: no further member restarts", record.Request)
	case request != record.Request:
		pods := s.requested(i)
		if len(pods) == 0 {
			return annotation.RestartRecord{Request: request}.String(), policy.NewNote(restart.RequestInvalid, "the request %q names no pod of StatefulSet %s that exists: use %s, or the name of a pod. For a restart of all members at once, run kubectl etcd restart %s --strategy coordinated",
				request, s.Sets[i].Name, v1alpha1.RestartRolling, s.Facts.Cluster.TargetArgs())
		}
		return annotation.RestartRecord{Request: request, Pods: pods}.String(), policy.NewNote(restart.RequestBegun, "the request %q restarts %s, one at a time", request, policy.List(slices.Sorted(maps.Keys(pods))))
	case len(record.Pods) > 0 && s.done(i):
		return annotation.RestartRecord{Request: request}.String(), policy.NewNote(restart.RestartComplete, "the request %q is done: %s", request, s.ended(i))
	}
	return record.String(), policy.Note{}
}

// requested returns the pods of a StatefulSet that a request is about.
func (s *state) requested(i int) map[string]types.UID {
	only, all := annotation.RequestedPod(s.requests[i])
	pods := map[string]types.UID{}
	for _, p := range s.Facts.Sets[i].Pods {
		if pod := s.Pods[p.Pod]; pod != nil && (all || p.Pod == only) {
			pods[p.Pod] = pod.UID
		}
	}
	return pods
}

// done reports whether every pod of a record is another one now, and well. One beyond the current replicas counts.
func (s *state) done(i int) bool {
	for _, p := range s.Facts.Sets[i].Pods {
		uid, recorded := s.records[i].Pods[p.Pod]
		if !recorded {
			continue
		}
		if pod := s.Pods[p.Pod]; pod == nil || pod.UID == uid || p.Going || !p.Ready || !p.PodReady {
			return false
		}
	}
	return s.Facts.Confirmed
}

// ended describes a request that is done.
func (s *state) ended(i int) string {
	var pods []string
	for _, p := range s.Facts.Sets[i].Pods {
		if _, recorded := s.records[i].Pods[p.Pod]; recorded {
			pods = append(pods, p.Pod)
		}
	}
	if len(pods) == 0 {
		return fmt.Sprintf("StatefulSet %s has none of its pods any more", s.Sets[i].Name)
	}
	return policy.Names(pods, "has a new pod and is healthy", "have new pods and are healthy")
}

// record writes the record of a StatefulSet and its copy, and reports whether either was another one.
func (c *Reconciler) record(ctx context.Context, s *state, i int, text string) (wrote bool, err error) {
	if wrote, err = c.copyRecord(ctx, s, text); err != nil {
		return wrote, err
	}
	sts := s.Sets[i].StatefulSet
	before := sts.Annotations[v1alpha1.RestartedPodsAnnotation]
	if before == text || text == "" && annotation.ParseRestartRecord(before).Request == "" {
		return wrote, nil
	}
	return true, c.annotate(ctx, sts, text)
}

// stop evicts a pod by its UID, so that budgets and the guard of evictions judge it.
func (c *Reconciler) stop(ctx context.Context, pod *corev1.Pod) error {
	eviction := &policyv1.Eviction{
		ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
		DeleteOptions: &metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &pod.UID}},
	}
	return c.Client.SubResource("eviction").Create(ctx, pod.DeepCopy(), eviction)
}

// passing reports whether a write succeeded, or another client was first, so that the step is decided again.
func passing(err error) bool {
	return err == nil || apierrors.IsConflict(err) || apierrors.IsNotFound(err)
}

// publish records an Event for each new step, and one for each pod that restarts.
func (c *Reconciler) publish(o owner.Owner, step restart.Step) {
	switch step.Kind {
	case restart.Restart:
		c.announced.Remove(o.Key())
		// Events of one reason about the same objects are counted, and only the first text stays.
		pod := &corev1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: o.Namespace, Name: step.Pod}
		announce.Event(c.Recorder, announce.Reference(o), pod, corev1.EventTypeNormal, policy.NewNote(step.Reason, "%s restarts by request: %s", step.Pod, step.Message), actionRestart)
	case restart.Blocked:
		c.publishNote(o, corev1.EventTypeWarning, policy.NewNote(step.Reason, "the requested restart waits: %s", step.Message))
	case restart.Wait, restart.MoveLeader, restart.Done:
		c.publishNote(o, corev1.EventTypeNormal, policy.NewNote(step.Reason, "%s", step.Message))
	}
}

func (c *Reconciler) publishDenied(o owner.Owner, wait time.Duration, err error) {
	c.publishNote(o, corev1.EventTypeWarning, policy.NewNote(restart.RequestDenied, "the requested restart waits, and is retried in %s: %v", policy.Duration(wait), err))
}

// publishChange records an Event of a change of a record. Two may have the same reason: of two StatefulSets, or of two
// requests.
func (c *Reconciler) publishChange(o owner.Owner, n policy.Note) {
	c.announced.Swap(o.Key(), n.Reason.Name())
	announce.Event(c.Recorder, announce.Reference(o), nil, corev1.EventTypeNormal, n, actionRestart)
}

// publishNote records an Event, unless the last one had the same reason.
func (c *Reconciler) publishNote(o owner.Owner, kind string, n policy.Note) {
	if last, _ := c.announced.Swap(o.Key(), n.Reason.Name()); last == n.Reason.Name() {
		return
	}
	announce.Event(c.Recorder, announce.Reference(o), nil, kind, n, actionRestart)
}
