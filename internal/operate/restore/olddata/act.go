// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package olddata

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubectl-etcd/kubectl-etcd/internal/format"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/restore"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/step"
)

// Act removes what Judge has found, and returns what was seen of it afterwards. When it ends early, the record stays,
// so that it can be run again.
func (d *Discard) Act(ctx context.Context) (done Discarded, err error) {
	byPod := map[string][]string{}
	var order []string
	for _, k := range d.found.Items {
		if k.Pod == "" {
			continue
		}
		if byPod[k.Pod] == nil {
			order = append(order, k.Pod)
		}
		byPod[k.Pod] = append(byPod[k.Pod], k.Path)
	}
	for _, pod := range order {
		n, err := d.removeFiles(ctx, pod, byPod[pod])
		done.Parts, done.Freed = done.Parts+len(n), done.Freed+sum(n)
		if err != nil {
			return done, err
		}
	}
	for _, k := range d.found.Items {
		switch {
		case k.Volume == "":
		case k.Stays != "":
			done.Stays = append(done.Stays, k)
		default:
			deleted, err := d.removeVolume(ctx, k)
			if err != nil {
				return done, err
			}
			if deleted {
				done.Parts, done.Freed = done.Parts+1, done.Freed+max(0, k.Size)
			}
		}
	}
	return done, d.removeRecords(ctx)
}

// removable returns the stamps of the records of which nothing stays.
func (d *Discard) removable() []string {
	var stamps []string
	for _, r := range d.found.Records {
		if !slices.ContainsFunc(d.found.Items, func(k Kept) bool { return k.Stays != "" && k.Record.Stamp() == r.Stamp() }) {
			stamps = append(stamps, r.Stamp())
		}
	}
	return stamps
}

// removeRecords removes the records of what is removed.
func (d *Discard) removeRecords(ctx context.Context) error {
	stamps := d.removable()
	if len(stamps) == 0 {
		return nil
	}
	if err := d.StillHeld(); err != nil {
		return err
	}
	return d.Plan.WithoutRecords(stamps...).Do(ctx, d.Clients)
}

// goOn returns an error unless this process still holds the lock and the cluster is still healthy. What was done to
// the volume of one member must not be done to the next if it has stopped that member.
func (d *Discard) goOn(ctx context.Context) error {
	if err := d.StillHeld(); err != nil {
		return err
	}
	return d.ready(ctx)
}

// removeFiles removes old data from the volume of a member: in the member's own container, or by a helper pod if
// that has no shell. The kubelet may give the files of a volume the SELinux label of each pod that mounts it, and a
// member can't use files with the label of another pod.
func (d *Discard) removeFiles(ctx context.Context, pod string, paths []string) (sizes map[string]int64, err error) {
	if err := d.goOn(ctx); err != nil {
		return nil, err
	}
	command := []string{"sh", "-c", removeScript(d.Plan.Files, paths, d.sums())}
	var out string
	if d.found.shells[pod] {
		out, err = d.InMember(ctx, pod, d.Plan.Container, command)
	} else {
		out, err = d.inHelper(ctx, pod, command)
	}
	sizes = parseSizes(out)
	for _, path := range slices.Sorted(maps.Keys(sizes)) {
		d.Logf("Deleted %s of %s", path, pod)
	}
	if err != nil {
		return sizes, fmt.Errorf("delete old data of %s: %w", pod, err)
	}
	return sizes, d.goOn(ctx)
}

// inHelper runs a command in a helper pod on the node of a member's pod, and returns what it prints.
func (d *Discard) inHelper(ctx context.Context, pod string, command []string) (text string, err error) {
	helper := pod + restore.HelperEnd
	end := step.DeleteHelpers{Names: []string{helper}, Of: string(d.Plan.Owner.UID)}
	manifest, err := d.helperBeside(ctx, pod)
	if err != nil {
		return "", err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		defer cancel()
		err = errors.Join(err, end.Do(ctx, d.Clients))
	}()
	for _, act := range []step.Action{
		end, step.CreatePod{Manifest: manifest}, // of an interrupted run
		step.Wait{Kind: step.Pod, Names: []string{helper}, For: step.Condition("Ready"), Timeout: 5 * time.Minute},
	} {
		if err := act.Do(ctx, d.Clients); err != nil {
			return "", fmt.Errorf("start a helper pod beside %s: %w", pod, err)
		}
	}
	if err := d.StillHeld(); err != nil {
		return "", err
	}
	var out strings.Builder
	err = d.Clients.Exec(ctx, helper, command, nil, &out)
	return out.String(), err
}

// sums returns the files beside the old data that show on which copies a member has run.
func (d *Discard) sums() []string {
	var sums []string
	for _, record := range d.found.Records {
		r := d.Plan
		r.At = record.At
		sums = append(sums, r.SumPaths()...)
	}
	return sums
}

// removeScript removes old data, and prints the size that each path had when it is gone. It removes nothing if the
// member's data is not there, or if it leads into what would be removed: a user may have linked it. It removes sums
// without a word.
func removeScript(files restore.Files, paths, sums []string) string {
	quoted := func(names []string) string {
		var out []string
		for _, name := range names {
			out = append(out, format.Quote(name))
		}
		return strings.Join(out, " ")
	}
	used := []string{files.DataDir + "/member"}
	if files.WALDir != "" {
		used = append(used, files.WALDir)
	}
	return fmt.Sprintf(`set -eu
for run in %[1]s; do
  [ -d "$run" ] || { echo "the member runs with $run, which does not exist: nothing is deleted" >&2; exit 1; }
done
for old in %[2]s; do
  [ -e "$old" ] || [ -L "$old" ] || continue
  there=$(readlink -f "$old")
  for run in %[1]s; do
    case "$(readlink -f "$run")/" in
    "$there"/*) echo "the member runs with $run, which leads into $old: it is not deleted" >&2; exit 1;;
    esac
  done
  size=$(du -sk "$old")
  rm -rf "$old"
  if [ -e "$old" ] || [ -L "$old" ]; then echo "$old is still there" >&2; exit 1; fi
  printf '%%s\n' "$size"
done
rm -f %[3]s
`, quoted(used), quoted(paths), quoted(sums))
}

// helperBeside returns the helper pod of a member on the node of its pod: a volume can be mounted twice only there.
func (d *Discard) helperBeside(ctx context.Context, pod string) (string, error) {
	var member, helper corev1.Pod
	if err := d.Clients.Kube.Get(ctx, client.ObjectKey{Namespace: d.Plan.Owner.Namespace, Name: pod}, &member); err != nil {
		return "", fmt.Errorf("read pod %s: %w", pod, err)
	}
	if err := yaml.Unmarshal([]byte(d.Plan.Files.ManifestOf(pod)), &helper); err != nil {
		return "", fmt.Errorf("read the manifest of a helper pod: %w", err)
	}
	helper.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{
			Key: metav1.ObjectNameField, Operator: corev1.NodeSelectorOpIn, Values: []string{member.Spec.NodeName},
		}}}},
	}}}
	text, err := yaml.Marshal(helper)
	return string(text), err
}

// removeVolume gives a volume its reclaim policy from before. Kubernetes then deletes it with its storage, which this
// awaits. It reports whether it did that itself: another client may have deleted the volume.
func (d *Discard) removeVolume(ctx context.Context, agreed Kept) (deleted bool, err error) {
	if err := d.goOn(ctx); err != nil {
		return false, err
	}
	var pv corev1.PersistentVolume
	err = d.Clients.Kube.Get(ctx, client.ObjectKey{Name: agreed.Volume}, &pv)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read PersistentVolume %s: %w", agreed.Volume, err)
	}
	if now, ours := d.volume(&pv); !ours || now.Stays != "" {
		return false, d.refuse("PersistentVolume %s has changed since the plan was made: run the command again", agreed.Volume)
	}
	before := pv.DeepCopy()
	pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimDelete
	if err := d.Clients.Kube.Patch(ctx, &pv, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return false, fmt.Errorf("let PersistentVolume %s be deleted: %w", agreed.Volume, err)
	}
	if err := (step.Wait{Kind: step.Volume, Names: []string{agreed.Volume}, For: step.Deleted, Timeout: 5 * time.Minute}).Do(ctx, d.Clients); err != nil {
		return false, err
	}
	d.Logf("Deleted PersistentVolume %s", agreed.Volume)
	return true, nil
}
