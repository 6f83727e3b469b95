// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package uninstall

import (
	"context"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/internal/apitest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/leaseclock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/owner"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/lock"
	"github.com/kubectl-etcd/kubectl-etcd/internal/operate/operatetest"
)

// cutAndMarked returns a cluster with an annotation on its StatefulSet, with or without pods, and its client Service,
// which is cut.
func cutAndMarked(t *testing.T, key, mark string, pods bool) (client.Client, *corev1.Service) {
	t.Helper()
	c := operatetest.NewCluster(t)
	set := operatetest.Field(c.Get(operatetest.Path("StatefulSet", "main")), "metadata")
	set["annotations"] = apitest.Object{}
	if key != "" {
		set["annotations"] = apitest.Object{key: mark}
	}
	for i := range 3 {
		if !pods {
			c.Remove(operatetest.Path("Pod", fmt.Sprintf("main-%d", i)))
		}
	}
	kube := c.Client(t)
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "main-client"}, Spec: corev1.ServiceSpec{
		ClusterIP: "10.96.0.7", Selector: map[string]string{v1alpha1.ClientTrafficKey: "cut-until-1"},
	}}
	for label, value := range operatetest.Field(c.Get(operatetest.Path("StatefulSet", "main")), "spec", "template", "metadata", "labels") {
		service.Spec.Selector[label] = fmt.Sprint(value)
	}
	if err := kube.Create(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	return kube, service
}

// TestStaysCut: the uninstallation restores client traffic, but not of a cluster of which an operation has stopped
// members, also where no pod is left. It prints the commands that do.
func TestStaysCut(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ name, key, mark, want string }{
		{name: "no mark"},
		{name: "a restore", key: v1alpha1.RestoreAnnotation, want: "or end it: kubectl etcd snapshot restore statefulset/main --abort -n team --context dev;"},
		{name: "a restart", key: v1alpha1.RestartAnnotation, mark: "stop-coordinated with 3 replicas at x", want: "or end it: kubectl etcd restart statefulset/main --abort -n team --context dev;"},
		{name: "a restart that has stopped no member", key: v1alpha1.RestartAnnotation, mark: "schedule-coordinated with 3 replicas at x"},
	} {
		for _, pods := range []bool{true, false} {
			kube, service := cutAndMarked(t, row.key, row.mark, pods)
			var printed, restored []string
			u := &Uninstaller{
				Kube: kube, Clock: clock.RealClock{}, Flags: " --context dev", Logf: func(string, ...any) {},
				Warnf:  func(format string, args ...any) { printed = append(printed, fmt.Sprintf(format, args...)) },
				Reader: &observe.Reader{Reader: kube, Leases: &leaseclock.Clock{Clock: clock.RealClock{}}},
				Restore: func(_ context.Context, o owner.Owner, services []string) error {
					restored = append(restored, o.Name+" "+strings.Join(services, " "))
					return nil
				},
			}
			found := &Installation{Cut: []corev1.Service{*service}, Records: make([]Object, 1)}
			found.Records[0].Namespace, found.Records[0].Name = "team", lock.Name(owner.Owner{Kind: "StatefulSet", Name: "main", Namespace: "team"})
			if err := u.judgeCuts(t.Context(), found); err != nil {
				t.Fatal(err)
			}
			if stays := len(found.StaysCut) == 1; stays != (row.want != "") || len(found.Cut)+len(found.StaysCut) != 1 || (len(found.Records) == 0) != stays {
				t.Errorf("%s, pods %t: planned: %d are restored, %d stay cut, with %d records", row.name, pods, len(found.Cut), len(found.StaysCut), len(found.Records))
			}
			// As if the members were stopped after the plan.
			if err := u.restore(t.Context(), client.ObjectKeyFromObject(service)); err != nil {
				t.Fatal(err)
			}
			if (len(restored) == 0) != (row.want != "") || row.want == "" && restored[0] != "main main-client" {
				t.Errorf("%s, pods %t: restored %q", row.name, pods, restored)
			}
			if text := strings.Join(printed, "\n"); !strings.Contains(text, row.want) || row.want == "" && text != "" {
				t.Errorf("%s, pods %t: printed %q, want %q", row.name, pods, text, row.want)
			}
		}
	}
}
