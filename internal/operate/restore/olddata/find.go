// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package olddata

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
)

// find finds the old data of the records.
func (d *Discard) find(ctx context.Context) error {
	if !d.Plan.Owner.Product().BackupRestore { // sidecars put no data aside
		if err := d.findFiles(ctx); err != nil {
			return err
		}
	}
	if !keepVolumes(d.found.Records) {
		return nil
	}
	return d.findVolumes(ctx)
}

// findFiles finds the old data in the volumes of the members. Names are made of the StatefulSet's directories and the
// times of the records alone.
func (d *Discard) findFiles(ctx context.Context) error {
	fresh := restore.Plan{Owner: d.Plan.Owner, Flags: d.Plan.Flags, At: d.Plan.At}
	if err := fresh.Find(ctx, d.Clients.Kube, d.Reader, fresh.Owner.Replicas, d.Image); err != nil {
		return err
	}
	d.Plan = fresh
	if err := d.Plan.UnknownClaim(); err != nil {
		return err
	}
	pods, err := d.Reader.MemberPods(ctx, d.Plan.Owner)
	if err != nil {
		return err
	}
	for _, m := range d.Plan.Members {
		items := d.filesOf(m.Pod)
		sizes := d.sizes(ctx, pods, items)
		for _, k := range items {
			size, known := sizes[k.Path]
			if known && size < 0 {
				continue
			}
			if known {
				k.Size = size
			}
			d.found.Items = append(d.found.Items, k)
		}
	}
	return d.findShells(ctx)
}

// findShells finds the members whose own container can remove their old data. The others need a helper pod.
func (d *Discard) findShells(ctx context.Context) error {
	d.found.shells = map[string]bool{}
	for _, pod := range d.helped() {
		_, err := d.InMember(ctx, pod, d.Plan.Container, []string{"sh", "-c", "command -v readlink && command -v du && command -v rm"})
		d.found.shells[pod] = err == nil
	}
	return d.sharable(ctx, d.helped())
}

// filesOf returns what restores can keep in the volume of a member.
func (d *Discard) filesOf(pod string) []Kept {
	var items []Kept
	for _, record := range d.found.Records {
		r := d.Plan
		r.At = record.At
		for _, path := range r.KeptPaths() {
			items = append(items, Kept{Pod: pod, Path: path, Record: record, Size: -1})
		}
	}
	return items
}

// sharable returns an error if a pod beside one of the members can't mount its volume.
func (d *Discard) sharable(ctx context.Context, pods []string) error {
	beside := slices.DeleteFunc(slices.Clone(d.Plan.Members), func(m restore.Member) bool { return !slices.Contains(pods, m.Pod) })
	for _, name := range d.Plan.ClaimsOf(beside) {
		var claim corev1.PersistentVolumeClaim
		if err := d.Clients.Kube.Get(ctx, client.ObjectKey{Namespace: d.Plan.Owner.Namespace, Name: name}, &claim); err != nil {
			return fmt.Errorf("read PersistentVolumeClaim %s: %w", name, err)
		}
		if slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteOncePod) {
			return d.refuse("PersistentVolumeClaim %s is ReadWriteOncePod, so no helper pod can mount it beside its member, whose container has no shell; delete the data while the member is stopped", name)
		}
	}
	return nil
}

// sizes asks a member's own container for the sizes of paths, in bytes. It is below 0 for what is not there. What
// the container can't show is missing: many images of etcd have no du.
func (d *Discard) sizes(ctx context.Context, pods []*corev1.Pod, items []Kept) map[string]int64 {
	if len(items) == 0 || !slices.ContainsFunc(pods, func(p *corev1.Pod) bool { return p.Name == items[0].Pod }) {
		return nil
	}
	command := []string{"du", "-sk"}
	for _, k := range items {
		command = append(command, k.Path)
	}
	out, err := d.InMember(ctx, items[0].Pod, d.Plan.Container, command)
	sizes := parseSizes(out)
	for _, k := range items {
		if _, printed := sizes[k.Path]; !printed && err != nil && absent(err.Error(), k.Path) {
			sizes[k.Path] = -1
		}
	}
	return sizes
}

// absent reports whether du has printed that a path is not there, and not that there is no du, or another path:
// "du: cannot access '/data/member.before-20260101T000000': No such file or directory".
func absent(text, path string) bool {
	for line := range strings.Lines(text) {
		before, found := strings.CutSuffix(strings.TrimSpace(line), ": No such file or directory")
		message, named := strings.CutSuffix(strings.TrimRight(before, `'"’`), path)
		if found && named && strings.TrimRight(message, ` '"‘`) != message {
			return true
		}
	}
	return false
}

// parseSizes reads what du -sk prints, as bytes by path.
func parseSizes(text string) map[string]int64 {
	sizes := map[string]int64{}
	for line := range strings.Lines(text) {
		kilobytes, path, found := strings.Cut(strings.TrimRight(line, "\n"), "\t")
		n, err := strconv.ParseInt(strings.TrimSpace(kilobytes), 10, 64)
		if found && err == nil {
			sizes[path] = n * 1024
		}
	}
	return sizes
}

// findVolumes finds the volumes that carry the record of a restore of this cluster.
func (d *Discard) findVolumes(ctx context.Context) error {
	var all corev1.PersistentVolumeList
	if err := d.Clients.Kube.List(ctx, &all); err != nil {
		return fmt.Errorf("list PersistentVolumes: %w", err)
	}
	for i := range all.Items {
		if k, ours := d.volume(&all.Items[i]); ours {
			d.found.Items = append(d.found.Items, k)
		}
	}
	return nil
}

// volume returns what a volume is for the discard. It is not ours without the record of a selected restore, with the
// UID of the owner, or if its claim was in another namespace.
func (d *Discard) volume(pv *corev1.PersistentVolume) (Kept, bool) {
	fields := strings.Fields(pv.Annotations[v1alpha1.KeptDataAnnotation])
	claim := pv.Spec.ClaimRef
	if len(fields) < 2 || fields[1] != string(d.Plan.Owner.UID) || claim == nil || claim.Namespace != d.Plan.Owner.Namespace {
		return Kept{}, false
	}
	at := slices.IndexFunc(d.found.Records, func(r annotation.KeptData) bool { return r.Stamp() == fields[0] })
	if at < 0 {
		return Kept{}, false
	}
	k := Kept{Volume: pv.Name, Claim: claim.Name, Record: d.found.Records[at], Size: -1}
	if capacity, found := pv.Spec.Capacity[corev1.ResourceStorage]; found {
		k.Size = capacity.Value()
	}
	switch {
	case pv.Status.Phase != corev1.VolumeReleased:
		k.Stays = fmt.Sprintf("it is %s, and not Released", pv.Status.Phase)
	case len(fields) < 3 || fields[2] != string(corev1.PersistentVolumeReclaimDelete):
		k.Stays = "it is not recorded that it was to be deleted with its claim before the restore, so its storage would stay; delete both by hand, the object with kubectl delete pv " + pv.Name
	}
	return k, true
}
