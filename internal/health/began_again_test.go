// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/etcdconf"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/annotation"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/policy/membership"
	"github.com/kubectl-etcd/kubectl-etcd/policy/recovery"
)

// running sets for how long the etcd of each pod runs, in minutes, and -1 for one that doesn't.
func running(minutes ...int) func(*Facts) {
	return func(f *Facts) {
		for i, m := range minutes {
			pod := f.Pods.Value[i]
			status := corev1.ContainerStatus{Name: etcdContainer(pod).Name}
			if status.State.Waiting = (&corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}); m >= 0 {
				status.State = corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(f.At.Add(-time.Duration(m) * time.Minute))}}
			}
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{status}
		}
	}
}

// unpublished are members that have never started in the log of those that answer.
func unpublished(members ...int) func(*Facts) {
	return func(f *Facts) {
		for i := range f.Survey.Value.List {
			if f.Survey.Value.List[i].ClientURLs = []string{"http://" + podName(i) + ":2379"}; slices.Contains(members, i) {
				f.Survey.Value.List[i].ClientURLs = nil
			}
		}
	}
}

// volumes sets when the volume claims of the members were created, in minutes before now, and -1 for one that is being
// deleted.
func volumes(minutes ...int) func(*Facts) {
	return func(f *Facts) {
		for i, m := range minutes {
			c := &f.Claims.Value[i]
			if c.CreationTimestamp = metav1.NewTime(f.At.Add(-time.Duration(m) * time.Minute)); m < 0 {
				c.CreationTimestamp, c.DeletionTimestamp = metav1.NewTime(f.At.Add(-time.Hour*9)), &metav1.Time{Time: f.At}
			}
		}
	}
}

// besideData gives each pod a second volume claim, for backups, of such an age as in volumes, and etcd a data directory.
func besideData(dir string, minutes ...int) func(*Facts) {
	return func(f *Facts) {
		f.Owner.Claims = []owner.Claim{{Template: "data"}, {Template: "backups"}}
		f.Serving = map[string]Got[etcdconf.Config]{"main-0": {Value: etcdconf.Config{Container: "etcd", DataDir: dir}}}
		data := f.Claims.Value
		f.Claims.Value = nil
		for i := range minutes {
			f.Claims.Value = append(f.Claims.Value, boundClaim("backups-"+podName(i)))
		}
		volumes(minutes...)(f)
		f.Claims.Value = append(data, f.Claims.Value...)
	}
}

func TestDataBefore(t *testing.T) {
	t.Parallel()
	judge(t, []row{
		{name: "all", id: "D010", want: OK, fix: "-"},
		{name: "two began again", id: "D010", with: func(f *Facts) { frozen(f); unpublished(2)(f); running(2, 2, 600)(f) }, want: Failure,
			message: "main-0 and main-1 began without data while main-2 ran", fix: "kubectl etcd diagnose statefulset/main -n team"},
		{name: "two began on new volumes", id: "D010", with: func(f *Facts) { frozen(f); unpublished(2)(f); running(20, 20, -1)(f); volumes(20, 20, 600)(f) }, want: Warning,
			message: "its volume is older than theirs", fix: "kubectl etcd diagnose statefulset/main -n team"},
		{name: "two began, and volumes can't be read", id: "D010", with: func(f *Facts) {
			frozen(f)
			unpublished(2)(f)
			f.Claims.Err = errRefused
		}, want: Unknown, message: "since when main-2 has its volume", fix: "-"},
	})
}

// TestOlderVolume: check, status and diagnose agree on a voter that may have earlier data although its etcd doesn't run.
func TestOlderVolume(t *testing.T) {
	t.Parallel()
	begun := []func(*Facts){frozen, unpublished(2), running(20, 20, -1), volumes(20, 20, 600)}
	restored := func(ago time.Duration) func(*Facts) {
		return func(f *Facts) {
			f.Owner.Annotations = map[string]string{v1alpha1.KeptDataAnnotation: annotation.FormatKeptData([]annotation.KeptData{{At: f.At.Add(-ago)}})}
		}
	}
	claim := func(i int, change func(*corev1.PersistentVolumeClaim)) func(*Facts) {
		return func(f *Facts) { change(&f.Claims.Value[i]) }
	}
	for _, row := range []struct {
		name string
		with []func(*Facts)
		want bool
	}{
		{"its container restarts", nil, true},
		{"its pod hangs from its start", []func(*Facts){running(20, 20, 19)}, true},
		{"its pod is gone", []func(*Facts){func(f *Facts) {
			f.Pods.Value, f.Survey.Value.Members, f.Survey.Value.List[2].Pod = f.Pods.Value[:2], f.Survey.Value.Members[:2], ""
		}}, true},
		{"it has started in their log", []func(*Facts){unpublished()}, false},
		{"it was added and has never started", []func(*Facts){func(f *Facts) { f.Survey.Value.List[2].Name = "" }}, false},
		{"all volumes are from one time: a new cluster whose third member never started", []func(*Facts){volumes(600, 600, 600)}, false},
		{"one of the others has a volume as old", []func(*Facts){volumes(20, 598, 600)}, false},
		{"its volume is newer", []func(*Facts){volumes(600, 600, 20)}, false},
		{"its claim is being deleted", []func(*Facts){volumes(20, 20, -1)}, false},
		{"it was never bound", []func(*Facts){claim(2, func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimPending })}, false},
		{"the age of another one is not known", []func(*Facts){claim(0, func(c *corev1.PersistentVolumeClaim) { c.Name = "other" })}, false},
		{"the cluster was restored on volumes of different ages", []func(*Facts){restored(10 * time.Minute)}, false},
		{"it was restored on new volumes of the others", []func(*Facts){restored(30 * time.Minute)}, false},
		{"it was restored long before the others had their volumes", []func(*Facts){volumes(20, 20, 6000), restored(60 * time.Hour)}, true},
		{"it was restored before it had its volume", []func(*Facts){restored(700 * time.Minute)}, true},
		{"the leader receives from it", []func(*Facts){func(f *Facts) { f.Silences = map[uint64]membership.Silence{3: {Contact: membership.ContactActive}} }}, false},
		{"it could not be asked", []func(*Facts){func(f *Facts) { f.Barred = map[string]bool{"main-2": true} }}, false},
		{"the others lost their volumes 10 hours after a restore", []func(*Facts){volumes(1200, 1200, 3000), restored(30 * time.Hour)}, true},
		{"the others have old volumes for backups", []func(*Facts){besideData("/data/etcd", 600, 600, 600)}, true},
		{"its volume for backups is new", []func(*Facts){besideData("/data/etcd", 20, 20, 20)}, true},
		{"its volume for backups is being deleted", []func(*Facts){besideData("/data/etcd", 20, 20, -1)}, true},
		{"only its volume for backups is older", []func(*Facts){volumes(20, 20, 20), besideData("/data/etcd", 20, 20, 600)}, false},
		{"one of its volumes is older, and which has the data is not known", []func(*Facts){volumes(20, 20, 20), besideData("$DIR", 20, 20, 600)}, true},
		{"the others' volumes for backups are old, and which has the data is not known", []func(*Facts){besideData("$DIR", 600, 600, 600)}, true},
		{"all volumes are new, and which has the data is not known", []func(*Facts){volumes(20, 20, 20), besideData("$DIR", 20, 20, 20)}, false},
	} {
		f := healthy(3)
		for _, change := range slices.Concat(begun, row.with) {
			change(f)
		}
		checked := slices.ContainsFunc(dataBefore(f), func(one Finding) bool { return one.Level == Warning && one.Member == "main-2" })
		shown := slices.ContainsFunc(StatusFindings(f), func(one Finding) bool { return one.Reason == recovery.BeganWithoutData })
		diagnosed := slices.Contains(recovery.IDs(f.Recovery()), "X-18")
		if checked != row.want || shown != row.want || diagnosed != row.want {
			t.Errorf("%s: check %t, status %t, diagnose %t; want %t", row.name, checked, shown, diagnosed, row.want)
		}
	}
}

// TestBeganAgain: check, status and diagnose agree on a quorum that began without data, and none of them alarms on a
// cluster that is new, or whose members restarted with their data.
func TestBeganAgain(t *testing.T) {
	t.Parallel()
	contact := func(c membership.Contact) func(*Facts) {
		return func(f *Facts) { f.Silences = map[uint64]membership.Silence{3: {Pod: "main-2", Contact: c}} }
	}
	for _, row := range []struct {
		name string
		with []func(*Facts)
		want bool
	}{
		{"two of three lost their data while the third is frozen", []func(*Facts){frozen, unpublished(2), running(2, 2, 600)}, true},
		{"and status does not ask the leader about it", []func(*Facts){frozen, unpublished(2), running(2, 2, 600), contact(membership.ContactUnknown)}, true},
		{"two of three restarted with their data while the third is frozen", []func(*Facts){frozen, unpublished(), running(2, 2, 600)}, false},
		{"a new cluster whose members all answer", []func(*Facts){unpublished(), running(2, 2, 2)}, false},
		{"a new cluster whose third member has not published itself yet", []func(*Facts){unpublished(2), running(2, 2, 2)}, false},
		{"a new cluster whose third member has not started", []func(*Facts){frozen, unpublished(2), running(20, 20, -1)}, false},
		{"a new cluster whose third member hangs from its start", []func(*Facts){frozen, unpublished(2), running(20, 20, 21)}, false},
		{"the third was added and has never started", []func(*Facts){frozen, unpublished(2), running(2, 2, 600), func(f *Facts) { f.Survey.Value.List[2].Name = "" }}, false},
		{"one of those that answer has run for as long", []func(*Facts){frozen, unpublished(2), running(2, 599, 600)}, false},
		{"it is not known for how long one runs", []func(*Facts){frozen, unpublished(2), running(2, -1, 600)}, false},
		{"the leader receives from it", []func(*Facts){frozen, unpublished(2), running(2, 2, 600), contact(membership.ContactActive)}, false},
		{"it could not be asked", []func(*Facts){frozen, unpublished(2), running(2, 2, 600), func(f *Facts) { f.Barred = map[string]bool{"main-2": true} }}, false},
	} {
		f := healthy(3)
		for _, change := range row.with {
			change(f)
		}
		checked := slices.ContainsFunc(dataBefore(f), func(one Finding) bool { return one.Level == Failure && one.Member == "main-2" })
		shown := slices.ContainsFunc(StatusFindings(f), func(one Finding) bool { return one.Reason == recovery.BeganWithoutData })
		diagnosed := slices.Contains(recovery.IDs(f.Recovery()), "X-18")
		if checked != row.want || shown != row.want || diagnosed != row.want {
			t.Errorf("%s: check %t, status %t, diagnose %t; want %t", row.name, checked, shown, diagnosed, row.want)
		}
	}
}
