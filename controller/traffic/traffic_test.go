// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubectl-etcd/kubectl-etcd/api/v1alpha1"
	"github.com/kubectl-etcd/kubectl-etcd/controller/internal/controllertest"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// serviceStore is an API server in memory for the patch of one Service, with preconditions.
type serviceStore struct {
	service *corev1.Service
	refuse  error
	// unchanged accepts writes and changes nothing, as an admission webhook may.
	unchanged bool
}

func (c *serviceStore) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
	body, err := patch.Data(obj)
	if err != nil {
		return err
	}
	var asked corev1.Service
	if err := json.Unmarshal(body, &asked); err != nil {
		return err
	}
	switch {
	case c.refuse != nil:
		return c.refuse
	case asked.UID != c.service.UID, asked.ResourceVersion != c.service.ResourceVersion:
		return apierrors.NewConflict(corev1.Resource("services"), obj.GetName(), errors.New("changed"))
	case !c.unchanged:
		text, err := json.Marshal(c.service)
		if err != nil {
			return err
		}
		if text, err = jsonpatch.MergePatch(text, body); err != nil {
			return err
		}
		c.service = &corev1.Service{}
		if err := json.Unmarshal(text, c.service); err != nil {
			return err
		}
	}
	c.service.DeepCopyInto(obj.(*corev1.Service))
	return nil
}

func TestTrafficCut(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	denied := apierrors.NewForbidden(corev1.Resource("services"), "main-client", errors.New("changes from service account x are disallowed"))
	unavailable := apierrors.NewInternalError(errors.New("failed calling webhook"))
	for _, row := range []struct {
		name  string
		value string // in the selector, "" for none
		on    func(*serviceStore)
		ends  bool
		again time.Duration
		event string
	}{
		{name: "not cut"},
		{name: "not ended", value: observe.CutValue(now.Add(time.Minute)), again: time.Minute},
		{name: "ends now", value: observe.CutValue(now), ends: true, event: "Normal ClientTrafficRestored restored client traffic through Service main-client: the cut ended at 2026-11-20T10:00:00Z"},
		{name: "ended an hour ago, before this leader started", value: observe.CutValue(now.Add(-time.Hour)), ends: true, event: "Normal ClientTrafficRestored"},
		{name: "ended by an interrupted restore", value: observe.CutValue(time.Time{}), ends: true, event: "an interrupted restore had already ended the cut"},
		{name: "no readable end", value: "disabled", ends: true, event: `had kubectl-etcd.dev/client-traffic="disabled"`},
		{name: "the longest cut", value: observe.CutValue(now.Add(observe.LongestCut)), again: observe.LongestCut},
		{name: "an end in milliseconds", value: fmt.Sprintf("cut-until-%d", now.UnixMilli()), ends: true, event: "which is not the end of a cut of at most 24h"},
		{name: "an end beyond the longest cut", value: observe.CutValue(now.Add(observe.LongestCut + time.Hour)), ends: true, event: "not the end of a cut"},
		{name: "changed meanwhile", value: observe.CutValue(now), on: func(c *serviceStore) { c.service.ResourceVersion = "8" }, again: time.Second},
		{name: "recreated meanwhile", value: observe.CutValue(now), on: func(c *serviceStore) { c.service.UID = "w" }, again: time.Second},
		{name: "denied", value: observe.CutValue(now), on: func(c *serviceStore) { c.refuse = denied }, again: 5 * time.Second, event: "Warning ClientTrafficRestoreDenied"},
		{name: "another webhook is unavailable", value: observe.CutValue(now), on: func(c *serviceStore) { c.refuse = unavailable }, again: 5 * time.Second, event: "failed calling webhook"},
		{name: "added again by admission", value: observe.CutValue(now), on: func(c *serviceStore) { c.unchanged = true }, again: 5 * time.Second, event: "admission added the key again"},
		{name: "being deleted", value: observe.CutValue(now), on: func(c *serviceStore) { c.service.DeletionTimestamp = &metav1.Time{Time: now} }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			service := clientService(row.value)
			// The cache holds the stored Service, without the row's changes of the version.
			stored := &serviceStore{service: service.DeepCopy()}
			if row.on != nil {
				row.on(stored)
			}
			service.DeletionTimestamp = stored.service.DeletionTimestamp
			recorder := events.NewFakeRecorder(10)
			c := &Reconciler{
				Client: stored, Reader: &observe.Reader{Reader: observetest.Objects{service}},
				Recorder: recorder, Clock: clocktesting.NewFakePassiveClock(now),
			}
			result, err := c.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(service)})
			if err != nil {
				t.Fatal(err)
			}
			if result.RequeueAfter != row.again {
				t.Errorf("reconciles again after %s, want %s", result.RequeueAfter, row.again)
			}
			want := clientService(row.value)
			if row.ends {
				want = clientService("")
			}
			want.ResourceVersion, want.UID, want.DeletionTimestamp = stored.service.ResourceVersion, stored.service.UID, stored.service.DeletionTimestamp
			if diff := cmp.Diff(want, stored.service); diff != "" {
				t.Errorf("the Service (-want +got):\n%s", diff)
			}
			got := strings.Join(controllertest.Recorded(t, recorder), "\n")
			if !strings.Contains(got, row.event) || row.event == "" && got != "" {
				t.Errorf("recorded %q, want %q", got, row.event)
			}
		})
	}
}

// TestTrafficCutHeld: while an operation has stopped members behind the Service, its cut goes on after its end.
func TestTrafficCutHeld(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	over, held := observe.CutValue(now.Add(-time.Second)), observe.CutValue(now.Add(holdPeriod))
	const restored, restarted = "kubectl etcd snapshot restore statefulset/main --abort -n db", "kubectl etcd restart statefulset/main --abort -n db"
	for _, row := range []struct {
		name, key, mark, value, want string
		on                           func(*appsv1.StatefulSet, *serviceStore)
		again                        time.Duration
		event                        string
	}{
		{name: "no mark", value: over, event: "Normal ClientTrafficRestored"},
		{name: "a restore", key: v1alpha1.RestoreAnnotation, mark: "2026-11-20T09:00:00Z", value: over, want: held, again: holdPeriod, event: restored},
		{name: "a restore, and an end that isn't readable", key: v1alpha1.RestoreAnnotation, value: "disabled", want: held, again: holdPeriod, event: restored},
		{name: "a restore, before the end", key: v1alpha1.RestoreAnnotation, value: observe.CutValue(now.Add(time.Minute)), want: observe.CutValue(now.Add(time.Minute)), again: time.Minute},
		{name: "a restore, and the cut was ended", key: v1alpha1.RestoreAnnotation, value: observe.CutValue(time.Time{}), event: "Normal ClientTrafficRestored"},
		{name: "a restart that stops", key: v1alpha1.RestartAnnotation, mark: "stop-coordinated with 3 replicas at 2026-11-20T09:00:00Z", value: over, want: held, again: holdPeriod, event: restarted},
		{name: "a restart that starts", key: v1alpha1.RestartAnnotation, mark: "start-coordinated with 3 replicas at 2026-11-20T09:00:00Z", value: over, want: held, again: holdPeriod, event: restarted},
		{name: "a restart of a kind that isn't known", key: v1alpha1.RestartAnnotation, mark: "x", value: over, want: held, again: holdPeriod, event: restarted},
		{name: "a restart that has stopped no member", key: v1alpha1.RestartAnnotation, mark: "schedule-coordinated with 3 replicas at 2026-11-20T09:00:00Z", value: over, event: "Normal ClientTrafficRestored"},
		{name: "a restore of members that the Service doesn't select", key: v1alpha1.RestoreAnnotation, value: over, event: "Normal ClientTrafficRestored", on: func(sts *appsv1.StatefulSet, _ *serviceStore) {
			sts.Spec.Template.Labels = map[string]string{"app": "other"}
		}},
		{name: "a restore in another namespace", key: v1alpha1.RestoreAnnotation, value: over, event: "Normal ClientTrafficRestored", on: func(sts *appsv1.StatefulSet, _ *serviceStore) {
			sts.Namespace = "other"
		}},
		{name: "denied", key: v1alpha1.RestoreAnnotation, value: over, want: over, again: 5 * time.Second, event: restored, on: func(_ *appsv1.StatefulSet, c *serviceStore) {
			c.refuse = apierrors.NewForbidden(corev1.Resource("services"), "main-client", errors.New("disallowed"))
		}},
		{name: "changed meanwhile", key: v1alpha1.RestoreAnnotation, value: over, want: over, again: time.Second, on: func(_ *appsv1.StatefulSet, c *serviceStore) {
			c.service.ResourceVersion = "8"
		}},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			service, sts := clientService(row.value), observetest.EtcdSet("main/0")
			sts.Namespace, sts.Annotations = service.Namespace, map[string]string{}
			if row.key != "" {
				sts.Annotations[row.key] = row.mark
			}
			stored := &serviceStore{service: service.DeepCopy()}
			if row.on != nil {
				row.on(sts, stored)
			}
			recorder := events.NewFakeRecorder(10)
			c := &Reconciler{
				Client: stored, Reader: &observe.Reader{Reader: observetest.Objects{service, sts}},
				Recorder: recorder, Clock: clocktesting.NewFakePassiveClock(now),
			}
			result, err := c.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(service)})
			if err != nil || result.RequeueAfter != row.again {
				t.Errorf("reconciles again after %s, %v, want %s", result.RequeueAfter, err, row.again)
			}
			if got := stored.service.Spec.Selector[v1alpha1.ClientTrafficKey]; got != row.want {
				t.Errorf("the key is %q, want %q", got, row.want)
			}
			got := strings.Join(controllertest.Recorded(t, recorder), "\n")
			if !strings.Contains(got, row.event) || row.event == "" && got != "" {
				t.Errorf("recorded %q, want %q", got, row.event)
			}
		})
	}
}

// TestTrafficCutEventOnOwner checks that the Event is on the cluster's owner, where users
// look for it.
func TestTrafficCutEventOnOwner(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	facts := controllertest.Policies(t)
	service := clientService(observe.CutValue(now))
	service.Spec.Selector["app"] = "bad"
	var owner string
	c := &Reconciler{
		Client: &serviceStore{service: service.DeepCopy()}, Clock: clocktesting.NewFakePassiveClock(now),
		Reader:   &observe.Reader{Reader: append(facts, service)},
		Recorder: &regardingRecorder{FakeRecorder: events.NewFakeRecorder(1), owner: &owner},
	}
	if _, err := c.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(service)}); err != nil {
		t.Fatal(err)
	}
	if owner != "StatefulSet/bad" {
		t.Errorf("the Event is on %q", owner)
	}
}

// regardingRecorder stores which object an Event regards.
type regardingRecorder struct {
	*events.FakeRecorder

	owner *string
}

func (w *regardingRecorder) Eventf(regarding, _ runtime.Object, _, _, _, _ string, _ ...any) {
	if ref, ok := regarding.(*corev1.ObjectReference); ok {
		*w.owner = ref.Kind + "/" + ref.Name
	}
}

func TestTrafficCutMetric(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	clock := clocktesting.NewFakePassiveClock(now)
	collector := &cutCollector{}
	left := func() []float64 {
		to := make(chan prometheus.Metric, 10)
		collector.Collect(to)
		close(to)
		var out []float64
		for m := range to {
			var text dto.Metric
			if err := m.Write(&text); err != nil {
				t.Fatal(err)
			}
			out = append(out, text.GetGauge().GetValue())
		}
		return out
	}
	key := types.NamespacedName{Namespace: "db", Name: "main-client"}
	collector.Swap(key, cutEnd{now.Add(time.Minute), clock})
	clock.SetTime(now.Add(10 * time.Second))
	if diff := cmp.Diff([]float64{50}, left()); diff != "" {
		t.Error(diff)
	}
	clock.SetTime(now.Add(70 * time.Second))
	if diff := cmp.Diff([]float64{-10}, left()); diff != "" {
		t.Error(diff)
	}
	collector.Remove(key)
	if got := left(); len(got) > 0 {
		t.Errorf("still %v", got)
	}
}

// clientService returns a Service whose selector has the value under the key of a cut.
func clientService(value string) *corev1.Service {
	s := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "db", Name: "main-client", UID: "u", ResourceVersion: "7",
			Labels: map[string]string{"team": "a"}, Annotations: map[string]string{"note": "b"},
		},
		Spec: corev1.ServiceSpec{ClusterIP: "10.96.0.7", Selector: map[string]string{"app": "main"}},
	}
	if value != "" {
		s.Spec.Selector[v1alpha1.ClientTrafficKey] = value
	}
	return s
}
