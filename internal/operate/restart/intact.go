// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	storagehelpers "k8s.io/component-helpers/storage/volume"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// checkIntact returns how many members keep their data and can be started with it again. What isn't
// certain about the data is a refusal: with all members stopped, no other one has it.
func (j *Job) checkIntact(ctx context.Context, s *state, f *operate.Findings) (intact int, err error) {
	for _, pod := range s.pods {
		own := &operate.Findings{}
		if err := j.checkData(ctx, s, pod, own); err != nil {
			return 0, err
		}
		for _, w := range own.Warnings {
			own.Refuse("%s", strings.TrimSuffix(w, "."))
		}
		own.Warnings = nil
		if err := j.checkNode(ctx, pod, own); err != nil {
			return 0, err
		}
		if len(own.Refusals) == 0 {
			intact++
		}
		f.Refusals = append(f.Refusals, own.Refusals...)
		f.Warnings = append(f.Warnings, own.Warnings...)
	}
	return intact, nil
}

// checkNode finds out whether a pod can stop, and a new one can mount its volumes. What the user may
// not read is a warning.
func (j *Job) checkNode(ctx context.Context, pod *corev1.Pod, f *operate.Findings) error {
	volumes, err := j.volumesOf(ctx, pod, f)
	if err != nil || pod.Spec.NodeName == "" {
		return err
	}
	var node corev1.Node
	err = j.Kube.Get(ctx, client.ObjectKey{Name: pod.Spec.NodeName}, &node)
	switch {
	case apierrors.IsForbidden(err):
		f.Warn("Node %s can't be read, so it is not known whether %s can stop and start on it.", pod.Spec.NodeName, pod.Name)
		return nil
	case apierrors.IsNotFound(err):
		f.Refuse("node %s of %s does not exist: the pod doesn't stop by itself, and its volume may be lost", pod.Spec.NodeName, pod.Name)
		return nil
	case err != nil:
		return fmt.Errorf("read node %s: %w", pod.Spec.NodeName, err)
	}
	if !scheduling.NodeReady(&node) {
		f.Refuse("node %s of %s is not Ready: the pod doesn't stop by itself, and its volume stays attached there; bring the node back, or if it is gone for good: kubectl delete node %s",
			node.Name, pod.Name, node.Name)
		return nil
	}
	return j.checkVolumeNodes(ctx, pod, &node, volumes, f)
}

// volumesOf reads the persistent volumes of a pod.
func (j *Job) volumesOf(ctx context.Context, pod *corev1.Pod, f *operate.Findings) (volumes []*corev1.PersistentVolume, err error) {
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil {
			continue
		}
		claim := &corev1.PersistentVolumeClaim{}
		err := j.Kube.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: v.PersistentVolumeClaim.ClaimName}, claim)
		if apierrors.IsNotFound(err) {
			continue // checkData refuses it
		}
		if err != nil {
			return nil, fmt.Errorf("read PersistentVolumeClaim %s: %w", v.PersistentVolumeClaim.ClaimName, err)
		}
		volume := &corev1.PersistentVolume{}
		err = j.Kube.Get(ctx, client.ObjectKey{Name: claim.Spec.VolumeName}, volume)
		switch {
		case claim.Spec.VolumeName == "", apierrors.IsNotFound(err):
			f.Refuse("volume claim %s of %s has no volume: a new pod could not start", claim.Name, pod.Name)
		case apierrors.IsForbidden(err):
			f.Warn("PersistentVolume %s can't be read, so it is not known which nodes can mount it.", claim.Spec.VolumeName)
		case err != nil:
			return nil, fmt.Errorf("read PersistentVolume %s: %w", claim.Spec.VolumeName, err)
		default:
			volumes = append(volumes, volume)
		}
	}
	return volumes, nil
}

// checkVolumeNodes finds a node that can run the next pod of a member with its volumes: its own one, or
// else another one.
func (j *Job) checkVolumeNodes(ctx context.Context, pod *corev1.Pod, own *corev1.Node, volumes []*corev1.PersistentVolume, f *operate.Findings) error {
	if fits(own, volumes) {
		return nil
	}
	var all corev1.NodeList
	err := j.Kube.List(ctx, &all)
	if apierrors.IsForbidden(err) {
		f.Warn("Nodes can't be listed, and node %s of %s gets no new pods, so it is not known where the pod can start.", own.Name, pod.Name)
		return nil
	}
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	for i := range all.Items {
		if fits(&all.Items[i], volumes) {
			return nil
		}
	}
	f.Refuse("no node that is Ready and not cordoned can mount the volumes of %s: uncordon its node first: kubectl uncordon %s", pod.Name, own.Name)
	return nil
}

// fits reports whether a node gets new pods and can mount volumes.
func fits(n *corev1.Node, volumes []*corev1.PersistentVolume) bool {
	for _, v := range volumes {
		if storagehelpers.CheckNodeAffinity(v, n.Labels) != nil {
			return false
		}
	}
	return !n.Spec.Unschedulable && scheduling.NodeReady(n)
}
