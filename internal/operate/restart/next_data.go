// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"context"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/podfiles"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// checkNextData refuses a member whose next pod looks for its data in another directory or volume than the current
// one: etcd would start there without data. now is the configuration of the pod, which shows its directories.
func (j *Job) checkNextData(ctx context.Context, s *state, pod *corev1.Pod, now etcdconf.Config, f *operate.Findings) error {
	at := slices.IndexFunc(s.sets, func(sts *appsv1.StatefulSet) bool { return sts.Name == j.setOf(pod.Name) })
	next := j.nextPod(s, pod)
	if at < 0 || next == pod {
		return nil
	}
	then, err := podfiles.New(j.Reader, j.Owner.Namespace).Config(ctx, next)
	if err != nil && notRead(ctx, err) {
		return err
	}
	data, wal, _ := now.DataLocations(&pod.Spec)
	nextData, nextWAL, known := then.DataLocations(&next.Spec)
	if err != nil || !known {
		const unknown = "where the next pod of %s looks for its data, so it may start without it"
		if j.Owner.Replicas <= 1 {
			f.Refuse("it is not known "+unknown+", and no other member has it; set --data-dir to an absolute path in its pod template", pod.Name)
		} else {
			f.Warn("It is not known "+unknown+".", pod.Name)
		}
		return nil
	}
	from, to := volumesByName(pod.Spec.Volumes), volumesByName(append(claimVolumes(s.sets[at], pod.Name), next.Spec.Volumes...))
	for _, l := range []struct {
		what      string
		now, then etcdconf.DataLocation
	}{{"data", data, nextData}, {"write-ahead log", wal, nextWAL}} {
		if l.now.Path == l.then.Path && from.text(l.now) == to.text(l.then) {
			continue
		}
		f.Refuse("the %s of %s would move from %s (%s) to %s (%s), and etcd would start without it; restore the directory and the volume mount in the pod template",
			l.what, pod.Name, l.now.Dir, from.text(l.now), l.then.Dir, to.text(l.then))
		return nil
	}
	return nil
}

// claimVolumes returns the volumes that a StatefulSet's controller adds to a pod for its claim templates.
func claimVolumes(sts *appsv1.StatefulSet, pod string) (volumes []corev1.Volume) {
	for _, t := range sts.Spec.VolumeClaimTemplates {
		v := corev1.Volume{Name: t.Name}
		v.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: t.Name + "-" + pod}
		volumes = append(volumes, v)
	}
	return volumes
}

// podVolumes are the volumes of a pod by their names.
type podVolumes map[string]corev1.Volume

// volumesByName returns volumes by their names. The first of a name counts, as for a claim template.
func volumesByName(volumes []corev1.Volume) podVolumes {
	all := podVolumes{}
	for _, v := range volumes {
		if _, has := all[v.Name]; !has {
			all[v.Name] = v
		}
	}
	return all
}

// text returns what a directory is on. Equal texts are the same storage.
func (p podVolumes) text(l etcdconf.DataLocation) string {
	switch v := p[l.Volume]; {
	case l.Volume == "":
		return "the container's own file system"
	case v.PersistentVolumeClaim != nil:
		return fmt.Sprintf("%s of volume claim %s", l.Path, v.PersistentVolumeClaim.ClaimName)
	case v.HostPath != nil:
		return fmt.Sprintf("%s of hostPath %s", l.Path, v.HostPath.Path)
	}
	return fmt.Sprintf("%s of volume %s", l.Path, l.Volume)
}
