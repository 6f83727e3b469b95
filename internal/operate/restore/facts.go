// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf/containers"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// Find fills in the facts about the cluster: all but the snapshot, the flags, the time and
// the survey, which it uses. size is the number of members that the restored cluster has, 0
// for the number that it should have now.
func (r *Plan) Find(ctx context.Context, kube client.Client, reader *observe.Reader, size int32, image string) error {
	if r.Owner.WithoutStatefulSet() || r.Owner.InParts() {
		return nil
	}
	sts, err := operate.ReadStatefulSet(ctx, kube, r.Owner)
	if err != nil {
		return err
	}
	if size, err = r.size(ctx, kube, size); err != nil {
		return err
	}
	if err := r.findNodes(ctx, kube, reader); err != nil {
		return err
	}
	contents := podfiles.New(reader, r.Owner.Namespace).Contents(ctx)
	serving, err := r.findMembers(sts, contents, int(size))
	if err != nil {
		return err
	}
	r.Container, r.NotifyInterval = serving.Container, notifyInterval(serving)
	r.Unlisted = serving.NamesNoPeers()
	r.Etcd = cmp.Or(r.Etcd, etcdconf.ImageVersion(etcdconf.NextPod(sts, &sts.Spec.Template, r.Members[0].Pod)))
	r.DeletesClaims = operate.DeletesClaims(sts)
	r.OneByOne = size > 1 && r.startsOneByOne(sts, serving)
	if r.bySidecars() {
		if err := r.findDruid(ctx, reader, contents, &sts.Spec.Template.Spec, image); err != nil {
			return err
		}
		return r.findVolumes(ctx, kube, reader, sts, r.Druid.Claims)
	}
	if err := r.findClients(ctx, kube, reader); err != nil {
		return err
	}
	recovery := r.Owner.Product().RecoveryEnv
	r.RestartsFromSnapshot = recovery != "" && restartsFromSnapshot(&sts.Spec.Template.Spec, serving.Container, recovery)
	if err := r.findFiles(sts, serving, image); err != nil {
		return err
	}
	if err := r.findLeft(ctx, kube); err != nil {
		return err
	}
	return r.findVolumes(ctx, kube, reader, sts, r.claims())
}

// startsOneByOne reports whether the pods of a StatefulSet start one after the other, and each waits to be ready for what
// only the restore of all members brings.
func (r *Plan) startsOneByOne(sts *appsv1.StatefulSet, serving etcdconf.Config) bool {
	return r.Owner.Ordered && (waitsForOthers(sts, serving) || r.disarms() && waitsForAlarm(sts, serving))
}

// size returns the number of members of the restored cluster. asked is what the user set, 0 for
// nothing.
func (r *Plan) size(ctx context.Context, kube client.Client, asked int32) (int32, error) {
	size := asked
	if r.bySidecars() {
		var err error
		if size, err = r.druidSize(ctx, kube, asked); err != nil {
			return 0, err
		}
	}
	size = cmp.Or(size, r.Owner.Replicas, voters(r))
	if size == 0 {
		return 0, fmt.Errorf("how many members %s should have isn't known: set it with --replicas", r.Owner)
	}
	return size, nil
}

// findMembers fills in the members of the restored cluster, and returns the configuration of
// the first.
func (r *Plan) findMembers(sts *appsv1.StatefulSet, contents etcdconf.Contents, size int) (first etcdconf.Config, err error) {
	for ordinal := range size {
		pod := etcdconf.NextPod(sts, &sts.Spec.Template, r.Owner.PodName(ordinal))
		s, err := etcdconf.ParsePod(pod, contents)
		if err != nil {
			return first, err
		}
		m := Member{Pod: pod.Name, Name: s.Name}
		why := cmp.Or(s.Unknown["name"], s.Unknown["initial-advertise-peer-urls"], s.Unknown["data-dir"])
		if s.WALDir != "" {
			why = cmp.Or(why, s.Unknown["wal-dir"])
		}
		switch {
		case why != "":
			return first, fmt.Errorf("pod %s/%s doesn't show all of --name, --initial-advertise-peer-urls, --data-dir and --wal-dir of its member, so set them in the pod template: %s", pod.Namespace, pod.Name, why)
		case len(s.AdvertisePeer) > 0:
			m.PeerURL = s.AdvertisePeer[0]
		case !r.bySidecars():
			return first, fmt.Errorf("pod %s/%s doesn't show the peer URL of its member", pod.Namespace, pod.Name)
		}
		r.Members = append(r.Members, m)
		if ordinal == 0 {
			first = s
			if err := r.onlyOurs(s, size); err != nil {
				return first, err
			}
		}
		if err := r.onePath(r.Members[0].Pod, pod.Name, first, s); err != nil {
			return first, err
		}
	}
	return first, nil
}

// voters returns the number of voters in the snapshot.
func voters(r *Plan) int32 {
	n := int32(0)
	for _, m := range r.Snapshot.Members {
		if !m.Learner {
			n++
		}
	}
	return n
}

// waitsForOthers reports whether a pod is Ready only while its member has a quorum. Before its
// startup probe has succeeded, a pod isn't Ready either.
func waitsForOthers(sts *appsv1.StatefulSet, s etcdconf.Config) bool {
	return slices.ContainsFunc(containers.Of(&sts.Spec.Template.Spec), func(c *corev1.Container) bool {
		return c.Name == s.Container && (s.NeedsQuorum(c, c.ReadinessProbe) || s.NeedsQuorum(c, c.StartupProbe))
	})
}

// waitsForAlarm reports whether a pod isn't Ready while NOSPACE is in force, which only a quorum of members can disarm.
func waitsForAlarm(sts *appsv1.StatefulSet, s etcdconf.Config) bool {
	return slices.ContainsFunc(containers.Of(&sts.Spec.Template.Spec), func(c *corev1.Container) bool {
		return c.Name == s.Container && (etcdconf.FailsOnNoSpace(c.ReadinessProbe) || etcdconf.FailsOnNoSpace(c.StartupProbe))
	})
}

// findFiles fills in the volumes of the data directories, and a pod that mounts them as
// etcd's container does.
func (r *Plan) findFiles(sts *appsv1.StatefulSet, s etcdconf.Config, image string) error {
	r.Files.DataDir, r.Files.WALDir, r.Files.Image = s.DataDir, s.WALDir, image
	spec := &sts.Spec.Template.Spec
	member := containers.Named(spec, s.Container)
	r.Files.UserUnknown = userUnknown(spec.SecurityContext, member.SecurityContext)
	helper := corev1.Container{
		Name: HelperContainer, Image: image, Command: []string{"sleep", "86400"},
		SecurityContext: member.SecurityContext, Resources: helperResources(member.Resources),
	}
	var volumes []corev1.Volume
	var err error
	for _, dir := range r.Files.dirs() {
		found, below := etcdconf.MountAt(member, dir)
		if found != nil && strings.Trim(below, "/") == "" && dir == s.WALDir {
			return r.refuse("its write-ahead log is in %s, which is a mount and can't be renamed; restore it by hand, or set --wal-dir to a directory below it", dir)
		}
		claim := ""
		if found != nil && etcdconf.IsKnownDir(dir) {
			claim = claimOf(sts, found.Name)
		}
		if claim == "" {
			r.Files.UnmountedDataDir = dir
			return nil
		}
		mount := *found
		if slices.ContainsFunc(helper.VolumeMounts, func(m corev1.VolumeMount) bool { return m.MountPath == mount.MountPath }) {
			continue
		}
		if mount.SubPath, err = r.subPath(member, mount); err != nil {
			return err
		}
		mount.SubPathExpr = ""
		helper.VolumeMounts = append(helper.VolumeMounts, mount)
		if slices.Contains(r.Files.Claims, claim) {
			continue
		}
		volumes = append(volumes, corev1.Volume{Name: mount.Name, VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
		}})
		r.Files.Claims = append(r.Files.Claims, claim)
	}
	if r.Files.Manifest, err = r.manifest(helperName(podMark), spec, helper, volumes); err != nil {
		return err
	}
	helper.VolumeMounts = nil
	r.Files.Try, err = r.manifest(r.imagePod(), spec, helper, nil)
	return err
}

// userUnknown reports whether only the image of the members has their user. If nothing else
// is set, it is nearly always root.
func userUnknown(pod *corev1.PodSecurityContext, c *corev1.SecurityContext) bool {
	pod, c = cmp.Or(pod, &corev1.PodSecurityContext{}), cmp.Or(c, &corev1.SecurityContext{})
	nonRoot := cmp.Or(c.RunAsNonRoot, pod.RunAsNonRoot)
	return cmp.Or(c.RunAsUser, pod.RunAsUser) == nil && (pod.FSGroup != nil || ptr.Deref(nonRoot, false))
}

// podMark is where the pod's name belongs in a text for all pods.
const podMark = "__POD__"
