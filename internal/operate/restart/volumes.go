// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/flavour"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// checkData finds out whether a member's data outlives its pod, and whether the next pod has it.
func (j *Job) checkData(ctx context.Context, s *state, pod *corev1.Pod, f *operate.Findings) error {
	config, err := podfiles.New(j.Reader, j.Owner.Namespace).Config(ctx, pod)
	if err != nil && notRead(ctx, err) {
		return err
	}
	if err != nil || !config.KnowsDataDir() || config.WALDir != "" && (config.Unknown["wal-dir"] != "" || !etcdconf.IsKnownDir(config.WALDir)) {
		return j.checkClaims(ctx, pod, f)
	}
	for _, dir := range []string{config.DataDir, config.WALDir} {
		if dir == "" {
			continue
		}
		if err := j.checkVolume(ctx, pod, etcdconf.VolumeAt(pod, config.Container, dir), f); err != nil {
			return err
		}
	}
	return j.checkNextData(ctx, s, pod, config, f)
}

// checkVolume finds out whether the volume of a directory outlives its pod. It is nil for a
// directory in the container's own file system.
func (j *Job) checkVolume(ctx context.Context, pod *corev1.Pod, volume *corev1.Volume, f *operate.Findings) error {
	replace := j.lossCure(pod)
	switch {
	case volume == nil:
		f.Refuse("the data of %s is in the container's own file system, and a new pod would start without it; %s", pod.Name, replace)
	case volume.EmptyDir != nil:
		f.Refuse("the data of %s is in emptyDir %s, and a new pod would start without it; %s", pod.Name, volume.Name, replace)
	case volume.Ephemeral != nil:
		f.Refuse("the data of %s is in the ephemeral volume %s, whose claim is deleted with the pod; %s", pod.Name, volume.Name, replace)
	case volume.HostPath != nil:
		f.Warn("The data of %s is in hostPath %s of node %s: on another node, it starts without it.", pod.Name, volume.HostPath.Path, pod.Spec.NodeName)
	case volume.PersistentVolumeClaim != nil:
		return j.checkClaim(ctx, pod, volume.PersistentVolumeClaim.ClaimName, f)
	}
	return nil
}

// notRead reports whether an error is of a request that failed, so that a later one may show the
// configuration. It returns false for a configuration that isn't known: only the pod has it, it is
// missing, or the user may not read it.
func notRead(ctx context.Context, err error) bool {
	var status apierrors.APIStatus
	var network net.Error
	return ctx.Err() != nil || !apierrors.IsForbidden(err) && (errors.As(err, &status) || errors.As(err, &network))
}

// lossCure returns what to do with a member that loses its data when its pod stops.
func (j *Job) lossCure(pod *corev1.Pod) string {
	if j.Owner.Replicas <= 1 {
		return fmt.Sprintf("no other member has its data: save it with kubectl etcd snapshot save %s FILE -n %s, give the data directory a volume claim, and restore the snapshot",
			j.Owner.Target(), j.Owner.Namespace)
	}
	return "to start it empty, so that it gets its data from the others: " + j.replaceHow(pod)
}

// replaceHow returns how to replace a member that loses its data when its pod stops.
func (j *Job) replaceHow(pod *corev1.Pod) string {
	m := j.Owner.Membership()
	if m.Manager != flavour.Unmanaged && !m.ByPlugin {
		return m.ReplaceHow
	}
	return fmt.Sprintf("kubectl etcd member replace %s -n %s --force", pod.Name, pod.Namespace)
}

// checkClaims checks each claim that the member's container mounts, if its data directory isn't known. The
// only member is not restarted then: no other one has its data.
func (j *Job) checkClaims(ctx context.Context, pod *corev1.Pod, f *operate.Findings) error {
	const cure = "set --data-dir to an absolute path in its pod template"
	if j.Owner.Replicas <= 1 {
		f.Refuse("it is not known where the data of %s is, and no other member has its data; %s", pod.Name, cure)
		return nil
	}
	found := false
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil || !mountsVolume(pod, v.Name) {
			continue
		}
		found = true
		if err := j.checkClaim(ctx, pod, v.PersistentVolumeClaim.ClaimName, f); err != nil {
			return err
		}
	}
	if !found {
		f.Refuse("it is not known where the data of %s is, and its container mounts no volume claim: a new pod may start without it; %s", pod.Name, cure)
	} else {
		f.Warn("It is not known where the data of %s is. Its volume claims stay, so a new pod starts without its data only if the data is on none of them.", pod.Name)
	}
	return nil
}

// mountsVolume reports whether the container of a pod's member mounts a volume. If it isn't known which
// container that is, any of them counts.
func mountsVolume(pod *corev1.Pod, volume string) bool {
	member := etcdconf.MemberOf(pod).Container
	return slices.ContainsFunc(containers.Of(&pod.Spec), func(c *corev1.Container) bool {
		return (member == nil || c.Name == member.Name) &&
			slices.ContainsFunc(c.VolumeMounts, func(m corev1.VolumeMount) bool { return m.Name == volume })
	})
}

// checkClaim checks that a claim stays when the pod is gone. One that is being deleted waits only
// for the pod.
func (j *Job) checkClaim(ctx context.Context, pod *corev1.Pod, name string, f *operate.Findings) error {
	claim := &corev1.PersistentVolumeClaim{}
	err := j.Kube.Get(ctx, client.ObjectKey{Namespace: pod.Namespace, Name: name}, claim)
	switch {
	case apierrors.IsNotFound(err):
		f.Refuse("volume claim %s of %s does not exist: a new pod would start without its data", name, pod.Name)
	case err != nil:
		return fmt.Errorf("read PersistentVolumeClaim %s/%s: %w", pod.Namespace, name, err)
	case claim.DeletionTimestamp != nil:
		f.Refuse("volume claim %s of %s is being deleted, and its data is lost as soon as the pod stops; %s", name, pod.Name, j.lossCure(pod))
	case claim.Status.Phase == corev1.ClaimLost:
		f.Refuse("volume claim %s of %s has lost its volume: a new pod could not start", name, pod.Name)
	}
	return nil
}
