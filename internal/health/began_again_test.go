// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package health

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

func TestDataBefore(t *testing.T) {
	t.Parallel()
	judge(t, []row{
		{name: "all", id: "D010", want: OK, fix: "-"},
		{name: "two began again", id: "D010", with: func(f *Facts) { frozen(f); unpublished(2)(f); running(2, 2, 600)(f) }, want: Failure,
			message: "main-0 and main-1 began without data while main-2 ran", fix: "kubectl etcd diagnose statefulset/main -n team"},
	})
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
