// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
	"github.com/kubectl-etcd/kubectl-etcd/policy"
)

// VolumeEnd ends the name of the pod that reads the volumes of a member.
const VolumeEnd = HelperEnd + "-volume"

// volumePodLife is how long such a pod runs if nothing deletes it, in seconds.
const volumePodLife = 6 * 60 * 60

// VolumePod is a pod that mounts the volumes of a member and can't change them. It runs beside the member, which may run.
type VolumePod struct {
	Name, Manifest string
	// Member is the pod whose volumes it reads, and MemberName the name of its member.
	Member, MemberName string
	// DataDir and WALDir are the directories of the member in it. Without WALDir, the log is in DataDir.
	DataDir, WALDir string
	// Etcd is the version of the member, as 3.6.5. It is empty if it isn't known.
	Etcd string
}

// VolumePodOf returns the pod that reads the volumes of the member with a pod. image is its image. The error is why the
// volumes can't be read so.
func (r Plan) VolumePodOf(ctx context.Context, kube client.Client, reader *observe.Reader, pod, image string) (VolumePod, error) {
	sts, err := operate.ReadStatefulSet(ctx, kube, r.Owner)
	if err != nil {
		return VolumePod{}, err
	}
	size, err := r.size(ctx, kube, 0)
	if err != nil {
		return VolumePod{}, err
	}
	r.Members, r.Files = nil, Files{}
	serving, err := r.findMembers(sts, podfiles.New(reader, r.Owner.Namespace).Contents(ctx), int(size))
	if err != nil {
		return VolumePod{}, err
	}
	if err := r.findFiles(sts, serving, image); err != nil {
		return VolumePod{}, err
	}
	if r.Files.UnmountedDataDir != "" {
		return VolumePod{}, r.refuse("the data of %s is in %s, which is on no volume claim: it ended with the pod that had it", pod, r.Files.UnmountedDataDir)
	}
	version := etcdconf.ImageVersion(etcdconf.NextPod(sts, &sts.Spec.Template, pod))
	at := slices.IndexFunc(r.Members, func(m Member) bool { return m.Pod == pod })
	if at < 0 {
		return VolumePod{}, r.refuse("it has no member %s: it has %s", pod, policy.List(r.pods()))
	}
	v := VolumePod{Name: pod + VolumeEnd, Member: pod, MemberName: r.Members[at].Name, DataDir: r.Files.DataDir, WALDir: r.Files.WALDir, Etcd: version}
	v.Manifest, err = r.reading(ctx, kube, pod, v.Name)
	return v, err
}

// reading returns the helper pod of a member as one that only reads, on the node of the member's pod.
func (r Plan) reading(ctx context.Context, kube client.Client, member, name string) (string, error) {
	var helper corev1.Pod
	if err := yaml.UnmarshalStrict([]byte(r.Files.ManifestOf(member)), &helper); err != nil {
		return "", fmt.Errorf("read the manifest of a pod: %w", err)
	}
	helper.Name, helper.Spec.ActiveDeadlineSeconds = name, new(int64(volumePodLife))
	for at := range helper.Spec.Containers[0].VolumeMounts {
		helper.Spec.Containers[0].VolumeMounts[at].ReadOnly = true
	}
	for at := range helper.Spec.Volumes { // so that the kubelet changes no owner and no label of the files
		helper.Spec.Volumes[at].PersistentVolumeClaim.ReadOnly = true
	}
	var runs corev1.Pod
	err := kube.Get(ctx, client.ObjectKey{Namespace: r.Owner.Namespace, Name: member}, &runs)
	if client.IgnoreNotFound(err) != nil {
		return "", fmt.Errorf("read pod %s: %w", member, err)
	}
	helper.Spec.NodeName = runs.Spec.NodeName
	if err := r.readable(ctx, kube, member, helper.Spec.Volumes, helper.Spec.NodeName != ""); err != nil {
		return "", err
	}
	text, err := yaml.Marshal(helper)
	return string(text), err
}

// readable returns an error if a claim has no volume, or if only one pod may use a volume, and the member's pod has it.
func (r Plan) readable(ctx context.Context, kube client.Client, member string, volumes []corev1.Volume, used bool) error {
	for _, v := range volumes {
		var claim corev1.PersistentVolumeClaim
		key := client.ObjectKey{Namespace: r.Owner.Namespace, Name: v.PersistentVolumeClaim.ClaimName}
		if err := kube.Get(ctx, key, &claim); err != nil {
			return fmt.Errorf("read claim %s: %w", key.Name, err)
		}
		if claim.Status.Phase != corev1.ClaimBound {
			return r.refuse("volume claim %s is %s, and has no volume that could be read", claim.Name, cmp.Or(claim.Status.Phase, "not bound"))
		}
		for _, mode := range claim.Spec.AccessModes {
			if used && mode == corev1.ReadWriteOncePod {
				return r.refuse("volume claim %s has the access mode %s, so no other pod can read it while %s exists: docs/guides/recovering-quorum.md shows under \"If no member answers\" how to read it after %s has stopped", claim.Name, mode, member, member)
			}
		}
	}
	return nil
}
