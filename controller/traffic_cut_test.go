// SPDX-FileCopyrightText: The kubectl-etcd authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
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
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe"
	"github.com/kubectl-etcd/kubectl-etcd/internal/observe/observetest"
)

// counter is where a Service lies and can be patched, by the API server's rules
// for versions.
type counter struct {
	service *corev1.Service
	refuse  error
	// deaf takes writes and changes nothing, as an admission webhook may.
	deaf bool
}

func (c *counter) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.PatchOption) error {
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
	case !c.deaf:
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
	away := apierrors.NewInternalError(errors.New("failed calling webhook"))
	for _, row := range []struct {
		name  string
		value string // in the selector, "" for none
		on    func(*counter)
		ends  bool
		again time.Duration
		said  string
	}{
		{name: "not cut"},
		{name: "not over yet", value: observe.CutValue(now.Add(time.Minute)), again: time.Minute},
		{name: "over at this moment", value: observe.CutValue(now), ends: true, said: "Normal ClientTrafficRestored client traffic of Service main-client is restored: it was cut until 2026-11-20T10:00:00Z"},
		{name: "over for long, by a leader that has just come up", value: observe.CutValue(now.Add(-time.Hour)), ends: true, said: "Normal ClientTrafficRestored"},
		{name: "ended by a restore that died half way", value: observe.CutValue(time.Time{}), ends: true, said: "whoever restores it had ended the cut"},
		{name: "no end to be read", value: "disabled", ends: true, said: `said kubectl-etcd.dev/client-traffic="disabled"`},
		{name: "somebody was faster", value: observe.CutValue(now), on: func(c *counter) { c.service.ResourceVersion = "8" }, again: time.Second},
		{name: "made anew meanwhile", value: observe.CutValue(now), on: func(c *counter) { c.service.UID = "w" }, again: time.Second},
		{name: "denied", value: observe.CutValue(now), on: func(c *counter) { c.refuse = denied }, again: 5 * time.Second, said: "Warning ClientTrafficRestoreDenied"},
		{name: "another's webhook is away", value: observe.CutValue(now), on: func(c *counter) { c.refuse = away }, again: 5 * time.Second, said: "failed calling webhook"},
		{name: "put back by admission", value: observe.CutValue(now), on: func(c *counter) { c.deaf = true }, again: 5 * time.Second, said: "admission put the key back"},
		{name: "going", value: observe.CutValue(now), on: func(c *counter) { c.service.DeletionTimestamp = &metav1.Time{Time: now} }},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			service := clientService(row.value)
			// The cache has what is there, but for the row's changes of version.
			there := &counter{service: service.DeepCopy()}
			if row.on != nil {
				row.on(there)
			}
			service.DeletionTimestamp = there.service.DeletionTimestamp
			said := events.NewFakeRecorder(10)
			c := &TrafficCut{
				Client: there, Reader: &observe.Reader{Reader: observetest.Objects{service}},
				Recorder: said, Clock: clocktesting.NewFakePassiveClock(now),
			}
			result, err := c.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(service)})
			if err != nil {
				t.Fatal(err)
			}
			if result.RequeueAfter != row.again {
				t.Errorf("looks again after %s, want %s", result.RequeueAfter, row.again)
			}
			want := clientService(row.value)
			if row.ends {
				want = clientService("")
			}
			want.ResourceVersion, want.UID, want.DeletionTimestamp = there.service.ResourceVersion, there.service.UID, there.service.DeletionTimestamp
			if diff := cmp.Diff(want, there.service); diff != "" {
				t.Errorf("the Service (-want +got):\n%s", diff)
			}
			words := strings.Join(heard(said), "\n")
			if !strings.Contains(words, row.said) || row.said == "" && words != "" {
				t.Errorf("said %q, want %q", words, row.said)
			}
		})
	}
}

// TestTrafficCutTellsTheOwner: an Event on the Service alone would be looked
// for by nobody.
func TestTrafficCutTellsTheOwner(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	facts := factsOf(t, "testdata/policies.facts.yaml")
	service := clientService(observe.CutValue(now))
	service.Spec.Selector["app"] = "bad"
	var owner string
	c := &TrafficCut{
		Client: &counter{service: service.DeepCopy()}, Clock: clocktesting.NewFakePassiveClock(now),
		Reader:   &observe.Reader{Reader: append(facts, service, waiting(now, time.Minute))},
		Recorder: &whom{FakeRecorder: events.NewFakeRecorder(1), owner: &owner},
	}
	if _, err := c.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(service)}); err != nil {
		t.Fatal(err)
	}
	if owner != "StatefulSet/bad" {
		t.Errorf("told %q", owner)
	}
}

// whom notes whom an Event regards.
type whom struct {
	*events.FakeRecorder

	owner *string
}

func (w *whom) Eventf(regarding, _ runtime.Object, _, _, _, _ string, _ ...any) {
	if ref, ok := regarding.(*corev1.ObjectReference); ok {
		*w.owner = ref.Kind + "/" + ref.Name
	}
}

func TestTrafficCutMetric(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	clock := clocktesting.NewFakePassiveClock(now)
	seen := &cutsSeen{until: map[types.NamespacedName]time.Time{}, clock: clock}
	left := func() []float64 {
		to := make(chan prometheus.Metric, 10)
		seen.Collect(to)
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
	seen.set(key, now.Add(time.Minute))
	clock.SetTime(now.Add(10 * time.Second))
	if diff := cmp.Diff([]float64{50}, left()); diff != "" {
		t.Error(diff)
	}
	clock.SetTime(now.Add(70 * time.Second))
	if diff := cmp.Diff([]float64{-10}, left()); diff != "" {
		t.Error(diff)
	}
	seen.drop(key)
	if got := left(); len(got) > 0 {
		t.Errorf("still %v", got)
	}
}

// clientService is one whose selector has the value under the key of a cut.
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
