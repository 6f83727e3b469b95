// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package restart

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-etcd/kubectl-etcd/internal/etcd"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

// TestCheckOldData: a member that ran before the others began without data is not restarted.
func TestCheckOldData(t *testing.T) {
	t.Parallel()
	j := newTogether(t).together(t)
	for _, row := range []struct {
		name    string
		minutes [3]int // since when each member runs; main-2 doesn't answer
		only    string
		leader  uint64
		refused bool
	}{
		{"all members", [3]int{2, 2, 600}, "", 0, true},
		{"only it", [3]int{2, 2, 600}, "main-2", 0, true},
		{"only another one", [3]int{2, 2, 600}, "main-0", 0, false},
		{"all began at the same time", [3]int{600, 600, 600}, "", 0, false},
		{"one of the others ran as long", [3]int{2, 600, 600}, "main-2", 0, false},
		{"the others follow it", [3]int{2, 2, 600}, "main-2", 3, false},
	} {
		s := &state{}
		for i, minutes := range row.minutes {
			name := fmt.Sprintf("main-%d", i)
			s.pods = append(s.pods, runningFor(name, time.Duration(minutes)*time.Minute))
			m, l := etcd.Member{Pod: name, ID: uint64(i + 1), LeaderID: row.leader}, etcd.Listed{ID: uint64(i + 1), Name: name, Pod: name, ClientURLs: []string{"http://" + name}}
			if i == 2 {
				m, l.ClientURLs = etcd.Member{Pod: name, Err: errors.New("timeout")}, nil
			}
			s.survey.Members, s.survey.List = append(s.survey.Members, m), append(s.survey.List, l)
		}
		f := &operate.Findings{}
		if err := j.checkPods(t.Context(), s, &Record{Only: row.only}, f); err != nil {
			t.Fatal(err)
		}
		if refused := strings.Contains(strings.Join(f.Refusals, ""), "main-2 ran before"); refused != row.refused {
			t.Errorf("%s: %q, refused: want %t", row.name, f.Refusals, row.refused)
		}
	}
}

func runningFor(name string, ran time.Duration) *corev1.Pod {
	started := metav1.NewTime(time.Now().Add(-ran))
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "etcd", Command: []string{"etcd", "--name=" + name}}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "etcd", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: started}},
		}}},
	}
}
