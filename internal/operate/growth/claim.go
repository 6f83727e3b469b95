// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package growth

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	rules "github.com/kubectl-etcd/kubectl-etcd/policy/growth"
)

// location is where a member has its data: the name of a claim, or where else, as text.
type location struct{ claim, elsewhere string }

// locate finds the claims of pods that have none yet.
func (j *Job) locate(ctx context.Context, pods []*corev1.Pod) error {
	for _, pod := range pods {
		if _, known := j.claims[pod.Name]; known {
			continue
		}
		at, err := j.locationOf(ctx, pod)
		if err != nil {
			return err
		}
		if j.claims == nil {
			j.claims = map[string]location{}
		}
		j.claims[pod.Name] = at
	}
	return nil
}

// locationOf finds the claim of a pod's data directory.
func (j *Job) locationOf(ctx context.Context, pod *corev1.Pod) (location, error) {
	config, err := podfiles.New(j.Reader, j.Owner.Namespace).Config(ctx, pod)
	if err != nil && podfiles.Transient(err) {
		return location{}, fmt.Errorf("read how %s is configured: %w", pod.Name, err)
	}
	if err != nil || !etcdconf.IsKnownDir(config.DataDir) {
		return location{elsewhere: "in a directory that is not known"}, nil //nolint:nilerr // it is part of the location
	}
	switch v := etcdconf.VolumeAt(pod, config.Container, config.DataDir); {
	case v == nil:
		return location{elsewhere: "in the container's own file system"}, nil
	case v.PersistentVolumeClaim != nil:
		return location{claim: v.PersistentVolumeClaim.ClaimName}, nil
	case v.EmptyDir != nil:
		return location{elsewhere: "in emptyDir " + v.Name}, nil
	case v.HostPath != nil:
		return location{elsewhere: "in hostPath " + v.HostPath.Path}, nil
	default:
		return location{elsewhere: "in volume " + v.Name + " of the pod itself"}, nil
	}
}

// readClaim reads a member's claim as facts. The claim is nil if there is none.
func (j *Job) readClaim(ctx context.Context, pod string, uid types.UID, at location) (rules.Claim, *corev1.PersistentVolumeClaim, error) {
	c := rules.Claim{Pod: pod, Name: at.claim, Elsewhere: at.elsewhere}
	if at.claim == "" {
		return c, nil, nil
	}
	claim := &corev1.PersistentVolumeClaim{}
	err := j.Kube.Get(ctx, client.ObjectKey{Namespace: j.Owner.Namespace, Name: at.claim}, claim)
	if apierrors.IsNotFound(err) {
		c.Trouble = "it does not exist"
		return c, nil, nil
	}
	if err != nil {
		return c, nil, fmt.Errorf("read PersistentVolumeClaim %s/%s: %w", j.Owner.Namespace, at.claim, err)
	}
	switch {
	case claim.DeletionTimestamp != nil:
		c.Trouble = "it is being deleted"
	case claim.Status.Phase != corev1.ClaimBound:
		c.Trouble = "it is not bound to a volume"
	}
	request, capacity := claim.Spec.Resources.Requests[corev1.ResourceStorage], claim.Status.Capacity[corev1.ResourceStorage]
	c.Request, c.Capacity, c.Class = request.Value(), capacity.Value(), ptr.Deref(claim.Spec.StorageClassName, "")
	c.Failure, c.NeedsRestart = j.failure(ctx, claim), j.needsRestart(claim, uid)
	if c.Request < j.Size.Value() {
		c.Expands, err = j.expands(ctx, c.Class)
	}
	return c, claim, err
}

// expands reports whether a storage class exists and allows expansion.
func (j *Job) expands(ctx context.Context, class string) (bool, error) {
	if class == "" {
		return false, nil
	}
	var found storagev1.StorageClass
	err := j.Kube.Get(ctx, client.ObjectKey{Name: class}, &found)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read StorageClass %s: %w", class, err)
	}
	return ptr.Deref(found.AllowVolumeExpansion, false), nil
}

// failure returns what the driver or the node reports about a resize that failed, empty for none.
func (j *Job) failure(ctx context.Context, claim *corev1.PersistentVolumeClaim) string {
	for _, c := range claim.Status.Conditions {
		failed := c.Type == corev1.PersistentVolumeClaimControllerResizeError || c.Type == corev1.PersistentVolumeClaimNodeResizeError
		if !failed || c.Status != corev1.ConditionTrue {
			continue
		}
		if reported := j.warning(ctx, claim); reported != "" {
			return reported
		}
		return fmt.Sprintf("%s: %s", c.Type, format.PrintableLine(c.Message))
	}
	status := claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage]
	if status == corev1.PersistentVolumeClaimControllerResizeInfeasible || status == corev1.PersistentVolumeClaimNodeResizeInfeasible {
		if reported := j.warning(ctx, claim); reported != "" {
			return reported
		}
		return string(status)
	}
	return ""
}

// warning returns the newest warning about a claim, empty for none and for Events that can't be read.
func (j *Job) warning(ctx context.Context, claim *corev1.PersistentVolumeClaim) string {
	var events corev1.EventList
	err := j.Kube.List(ctx, &events, client.InNamespace(claim.Namespace), client.MatchingFields{"involvedObject.name": claim.Name, "type": corev1.EventTypeWarning})
	if err != nil {
		return ""
	}
	about := slices.DeleteFunc(events.Items, func(e corev1.Event) bool {
		return e.InvolvedObject.Kind != "PersistentVolumeClaim" || e.InvolvedObject.Name != claim.Name || e.Type != corev1.EventTypeWarning
	})
	if len(about) == 0 {
		return ""
	}
	newest := slices.MaxFunc(about, func(a, b corev1.Event) int {
		atA, _ := format.EventTime(&a)
		atB, _ := format.EventTime(&b)
		return atA.Compare(atB)
	})
	return newest.Reason + ": " + format.PrintableLine(newest.Message)
}

// needsRestart reports whether the file system of a claim has not grown within the limit since its volume has, and
// its pod is still the same one. It grows when a new pod mounts it, so no pod is restarted twice for it.
func (j *Job) needsRestart(claim *corev1.PersistentVolumeClaim, pod types.UID) bool {
	waits := slices.ContainsFunc(claim.Status.Conditions, func(c corev1.PersistentVolumeClaimCondition) bool {
		return c.Type == corev1.PersistentVolumeClaimFileSystemResizePending && c.Status == corev1.ConditionTrue
	})
	if !waits || claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage] == corev1.PersistentVolumeClaimNodeResizeInProgress {
		delete(j.pending, claim.Name)
		return false
	}
	if _, seen := j.pending[claim.Name]; !seen {
		if j.pending == nil {
			j.pending = map[string]wait{}
		}
		j.pending[claim.Name] = wait{j.Clock.Now(), pod}
	}
	w := j.pending[claim.Name]
	return w.pod == pod && j.Clock.Since(w.since) >= onlineLimit
}
