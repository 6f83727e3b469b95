// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/kubectl-etcd/kubectl-etcd/internal/operate"
)

func TestReachesPort(t *testing.T) {
	t.Parallel()
	pods := []*corev1.Pod{{Spec: corev1.PodSpec{Containers: []corev1.Container{
		{Name: "exporter", Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9979}}},
		{Name: "etcd", Ports: []corev1.ContainerPort{{Name: "client", ContainerPort: 2379}, {Name: "peer", ContainerPort: 2380}}},
	}}}}
	for _, row := range []struct {
		name string
		port corev1.ServicePort
		pods []*corev1.Pod
		to   int
		want bool
	}{
		{"by number", corev1.ServicePort{Port: 80, TargetPort: intstr.FromInt32(2379)}, pods, 2379, true},
		{"by another number", corev1.ServicePort{Port: 2379, TargetPort: intstr.FromInt32(9979)}, pods, 2379, false},
		{"by its own number", corev1.ServicePort{Port: 2379}, pods, 2379, true},
		{"by name", corev1.ServicePort{Port: 80, TargetPort: intstr.FromString("client")}, pods, 2379, true},
		{"by a name of another port", corev1.ServicePort{Port: 80, TargetPort: intstr.FromString("metrics")}, pods, 2379, false},
		{"by a name that no port has", corev1.ServicePort{Port: 80, TargetPort: intstr.FromString("etcd")}, pods, 2379, false},
		{"where the port isn't known", corev1.ServicePort{Port: 80}, pods, 0, true},
		{"where there are no pods", corev1.ServicePort{Port: 80, TargetPort: intstr.FromString("client")}, nil, 2379, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			s := corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 9}, row.port}}}
			if got := reachesPort(&s, row.pods, row.to); got != row.want {
				t.Errorf("reaches it: %v, want %v", got, row.want)
			}
		})
	}
}

func TestKeyPatch(t *testing.T) {
	t.Parallel()
	s := corev1.Service{Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "x"}}}
	value := "cut-until-7"
	for want, value := range map[string]*string{
		`[{"op":"test","path":"/spec/selector","value":{"app":"x"}},{"op":"add","path":"/spec/selector/kubectl-etcd.dev~1client-traffic","value":"cut-until-7"}]`: &value,
		`[{"op":"test","path":"/spec/selector","value":{"app":"x"}},{"op":"remove","path":"/spec/selector/kubectl-etcd.dev~1client-traffic"}]`:                    nil,
	} {
		got, err := keyPatch(&s, value).Data(&s)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Error(diff)
		}
	}
}

func TestExplainTest(t *testing.T) {
	t.Parallel()
	services := schema.GroupResource{Resource: "services"}
	for _, row := range []struct {
		name    string
		err     error
		changed bool
	}{
		{"the patch's condition", apierrors.NewGenericServerResponse(http.StatusUnprocessableEntity, "patch", services, "x", "testing path /spec/selector value failed", 0, false), true},
		{"a conflict", apierrors.NewConflict(services, "x", errors.New("changed")), true},
		{"a field that is wrong", apierrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "x", field.ErrorList{field.Invalid(field.NewPath("spec"), 1, "no")}), false},
		{"denied", apierrors.NewForbidden(services, "x", errors.New("protected")), false},
		{"nothing", nil, false},
	} {
		if got := errors.Is(explainConflict(row.err), errChanged); got != row.changed {
			t.Errorf("%s: changed %v, want %v", row.name, got, row.changed)
		}
	}
}

func TestWritten(t *testing.T) {
	t.Parallel()
	local := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	entry := func(manager, fields string, ago time.Duration) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{Manager: manager, Time: &metav1.Time{Time: local.Add(-ago)}, FieldsV1: metav1.NewFieldsV1(fields)}
	}
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		entry("druid", `{"f:spec":{"f:selector":{}}}`, time.Hour),
		entry("kubectl-etcd", `{"f:spec":{"f:selector":{}}}`, 2*time.Minute),
		entry("kubectl-label", `{"f:metadata":{"f:labels":{}}}`, time.Minute),
	}}}
	if got := writeTime(s, local); !got.Equal(local.Add(-time.Minute)) {
		t.Errorf("written at %s", got)
	}
	if got, _ := operate.LastWriter(s, "selector"); got != "kubectl-etcd" {
		t.Errorf("last writer of the selector %q", got)
	}
	s.ManagedFields = nil
	by, _ := operate.LastWriter(s, "selector")
	if got := writeTime(s, local); !got.Equal(local) || by != "" {
		t.Errorf("without managed fields: %s by %q", got, by)
	}
}
