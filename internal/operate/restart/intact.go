// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podstate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/scheduling"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/hosts"
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
		if err := j.checkNode(ctx, s, pod, own); err != nil {
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
func (j *Job) checkNode(ctx context.Context, s *state, pod *corev1.Pod, f *operate.Findings) error {
	volumes, err := j.volumesOf(ctx, pod, f)
	if err != nil {
		return err
	}
	next := hosts.Admitted(j.nextPod(s, pod), s.pods)
	if pod.Spec.NodeName == "" {
		return j.checkHosts(ctx, next, volumes, f)
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
		f.Refuse("node %s of %s is not Ready: the pod doesn't stop by itself, and its volume stays attached there; %s",
			node.Name, pod.Name, podstate.NodeGone(node.Name))
		return nil
	}
	if hosts.Starts(&node, next, volumes) {
		return nil
	}
	return j.checkHosts(ctx, next, volumes, f)
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

// checkHosts finds a node that can start the next pod of a member with its volumes.
func (j *Job) checkHosts(ctx context.Context, next *corev1.Pod, volumes []*corev1.PersistentVolume, f *operate.Findings) error {
	nodes, allowed, err := hosts.List(ctx, j.Kube)
	switch {
	case err != nil:
		return err
	case !allowed:
		f.Warn("Nodes can't be listed, so it is not known where the next pod of %s can start.", next.Name)
	case len(nodes.Starting(next, volumes)) == 0:
		why, _ := nodes.NoStart(next, volumes)
		f.Refuse("%s: %s", next.Name, why)
	}
	return nil
}
