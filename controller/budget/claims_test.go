// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package budget

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
)

// createdAgain returns a cluster that had five voters. Its StatefulSet was deleted and created again with
// three replicas over the volume claims of the five, and its budget went with it.
func createdAgain(t *testing.T) *stage {
	t.Helper()
	s := plain(t, "{disruption: {createMissing: true}}")
	removeBudget(s, "etcd")
	for i := range 5 {
		s.Put(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
			Namespace: s.key.Namespace, Name: fmt.Sprintf("data-etcd-%d", i), UID: types.UID(fmt.Sprintf("claim-%d", i)),
			CreationTimestamp: metav1.NewTime(controllertest.Now.Add(-48 * time.Hour)),
		}})
	}
	change(s, "etcd", func(sts *appsv1.StatefulSet) {
		sts.CreationTimestamp = metav1.NewTime(controllertest.Now.Add(-time.Hour))
		sts.Spec.VolumeClaimTemplates = []corev1.PersistentVolumeClaim{{ObjectMeta: metav1.ObjectMeta{Name: "data"}}}
	})
	return s
}

// TestSizeOfClaims checks that a StatefulSet that was created again keeps the quorum of the voters that its
// volumes have, unless something newer shows how many there are.
func TestSizeOfClaims(t *testing.T) {
	t.Parallel()
	at := func(before time.Duration) string {
		return " at " + controllertest.Now.Add(-before).Format(time.RFC3339)
	}
	for _, row := range []struct {
		name   string
		change func(*stage)
		want   string
	}{
		{"created again", func(*stage) {}, "etcd-quorum minAvailable=3 MemberDown"},
		{"declared since", func(s *stage) { annotateSize(s, "3"+at(time.Hour)) }, "etcd-quorum minAvailable=2 AllReady"},
		{"declared before the volumes", func(s *stage) { annotateSize(s, "3"+at(72*time.Hour)) }, "etcd-quorum minAvailable=3 MemberDown"},
		{"a number without a time", func(s *stage) { annotateSize(s, "3") }, "etcd-quorum minAvailable=3 MemberDown"},
		{"scaled in", func(s *stage) {
			change(s, "etcd", func(sts *appsv1.StatefulSet) {
				sts.CreationTimestamp = metav1.NewTime(controllertest.Now.Add(-72 * time.Hour))
			})
		}, "etcd-quorum minAvailable=2 AllReady"},
		{"a script removes members", func(s *stage) {
			change(s, "etcd", func(sts *appsv1.StatefulSet) {
				sts.Spec.Template.Spec.Containers[0].Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{
					Exec: &corev1.ExecAction{Command: []string{"/bin/sh", "-c", "etcdctl member remove $ID"}},
				}}
			})
		}, "etcd-quorum minAvailable=2 AllReady"},
		{"an operator removes members", func(s *stage) { ownedBy(s, "operator.etcd.io/v1alpha1", "EtcdCluster") }, "etcd-quorum minAvailable=3 MemberDown"},
		{"a controller that is not known", func(s *stage) { ownedBy(s, "example.com/v1", "Database") }, "etcd-quorum minAvailable=3 MemberDown"},
		{"another StatefulSet's volumes", func(s *stage) {
			change(s, "etcd", func(sts *appsv1.StatefulSet) { sts.Spec.VolumeClaimTemplates[0].Name = "other" })
		}, "etcd-quorum minAvailable=2 AllReady"},
		{"an adopted budget", func(s *stage) { foreign(s, "theirs", "minAvailable: 1, selector: {"+byApp+"}") }, "theirs minAvailable=3 MemberDown"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := createdAgain(t)
			row.change(s)
			s.reconcile()
			s.advance(time.Hour)
			s.expect(row.want)
			s.restart()
			s.advance(time.Hour)
			s.expect(row.want)
		})
	}
}

// TestSizeOfClaimsEnds checks that a budget doesn't stay at a size that only volumes showed, once a user
// declares how many voters there are.
func TestSizeOfClaimsEnds(t *testing.T) {
	t.Parallel()
	s := createdAgain(t)
	s.expect("etcd-quorum minAvailable=3 MemberDown")
	for _, o := range append([]client.Object{}, s.Objects...) {
		if _, is := o.(*corev1.PersistentVolumeClaim); is && (o.GetName() == "data-etcd-3" || o.GetName() == "data-etcd-4") {
			if err := s.Delete(t.Context(), o); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.advance(time.Hour)
	s.expect("etcd-quorum minAvailable=3 MemberDown") // it is recorded
	change(s, "etcd", func(o *appsv1.StatefulSet) {
		o.Annotations = map[string]string{v1alpha1.SizeAnnotation: "3 at " + s.clock.Now().Format(time.RFC3339)}
	})
	s.reconcile()
	s.advance(time.Hour)
	s.expect("etcd-quorum minAvailable=2 AllReady")
}

// TestSizeWithoutBudget has a cluster of five that was scaled in to three. Its budget is gone, and no policy has one
// created. The volumes show the size, to a new leader and when there is a budget again, until a user declares another
// number.
func TestSizeWithoutBudget(t *testing.T) {
	t.Parallel()
	s := createdAgain(t)
	change(s, "default", func(p *v1alpha1.EtcdTopologyPolicy) { p.Spec.Disruption.CreateMissing = false })
	change(s, "etcd", func(sts *appsv1.StatefulSet) {
		sts.CreationTimestamp = metav1.NewTime(controllertest.Now.Add(-72 * time.Hour))
	})
	s.restart()
	s.expect()
	foreign(s, "theirs", "minAvailable: 1, selector: {"+byApp+"}")
	s.expect("theirs minAvailable=3 MemberDown")
	annotateSize(s, "3 at "+s.clock.Now().Format(time.RFC3339))
	s.reconcile()
	s.advance(time.Hour)
	s.expect("theirs minAvailable=2 AllReady")
}

// listing has the template list so many members.
func listing(s *stage, n int) {
	change(s, "etcd", func(sts *appsv1.StatefulSet) {
		var entries []string
		for i := range n {
			entries = append(entries, fmt.Sprintf("etcd-%[1]d=http://etcd-%[1]d.etcd:2380", i))
		}
		c := &sts.Spec.Template.Spec.Containers[0]
		c.Command = []string{"etcd", "--name=$(POD_NAME)", "--initial-advertise-peer-urls=http://$(POD_NAME).etcd:2380", "--initial-cluster=" + strings.Join(entries, ",")}
		c.Args, c.Env = nil, []corev1.EnvVar{{Name: "POD_NAME", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}}
	})
}

// TestSizeWithoutRecord has a cluster of five that was scaled in to three, and whose budget has no record of that:
// etcd-webhook was removed and installed again, the record was removed by hand, or a client created the budget again. A
// volume whose member the template still lists counts as a voter.
func TestSizeWithoutRecord(t *testing.T) {
	t.Parallel()
	theirs := func(s *stage) { foreign(s, "theirs", "minAvailable: 1, selector: {"+byApp+"}") }
	for _, row := range []struct {
		name   string
		change func(*stage)
		want   string
	}{
		{"a budget of ours is created", func(s *stage) { listing(s, 5) }, "etcd-quorum minAvailable=3 MemberDown"},
		{"an author's budget", func(s *stage) { listing(s, 5); theirs(s) }, "theirs minAvailable=3 MemberDown"},
		{"the list is up to date", func(s *stage) { listing(s, 3); theirs(s) }, "theirs minAvailable=2 AllReady"},
		{"one is listed no more", func(s *stage) { listing(s, 4); theirs(s) }, "theirs minAvailable=3 MemberDown"},
		{"declared", func(s *stage) {
			listing(s, 5)
			annotateSize(s, "3 at "+controllertest.Now.Format(time.RFC3339))
		}, "etcd-quorum minAvailable=2 AllReady"},
		{"an operator removes members", func(s *stage) {
			listing(s, 5)
			ownedBy(s, "operator.etcd.io/v1alpha1", "EtcdCluster")
		}, "etcd-quorum minAvailable=2 AllReady"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := createdAgain(t)
			change(s, "etcd", func(sts *appsv1.StatefulSet) {
				sts.CreationTimestamp = metav1.NewTime(controllertest.Now.Add(-72 * time.Hour))
			})
			row.change(s)
			s.restart()
			s.reconcile()
			s.advance(time.Hour)
			s.expect(row.want)
		})
	}
}

// ownedBy gives the StatefulSet a controller, which also creates it again.
func ownedBy(s *stage, apiVersion, kind string) {
	change(s, "etcd", func(sts *appsv1.StatefulSet) {
		sts.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: "etcd", UID: "owner", Controller: new(true)}}
	})
}
